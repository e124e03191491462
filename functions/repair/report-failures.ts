/** How repair says that an act came to nothing, or that nobody knows what came of it. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { minutes } from '../../shared/domain/time.ts';
import type { TurnedAway } from '../../shared/lifecycle/refusals.ts';
import type { Report } from '../../shared/lifecycle/reporter.ts';
import type { RepairAttempt } from './pass/pool.ts';
import { aboutNode, attemptOf, metricOf, placeOf, type Place } from './report.ts';

/** An act that was refused, or cannot be carried out. */
export function reportOfRefusal(attempt: RepairAttempt, place: Place, reason: string, message: string): Report {
  return {
    about: aboutNode(attempt.node),
    decision: 'refused',
    reason,
    message,
    details: { ...placeOf(place), ...attemptOf(attempt) },
    metric: metricOf('refused', place),
    event: { type: 'Warning', reason: EVENT_REASONS.nodeRepairActionFailed },
  };
}

/** An act whose run ended without saying so: its Node is gone by now. */
export function reportOfLost(attempt: RepairAttempt, place: Place): Report {
  return {
    about: aboutNode(attempt.node),
    decision: 'settle',
    reason: 'OutcomeUnknown',
    message: `the run of attempt ${attempt.number} ended before its outcome was recorded, and the Node is gone since`,
    details: { ...placeOf(place), ...attemptOf(attempt) },
    metric: metricOf('settle', place),
  };
}

// The old form of the kernel's `refusals.ts`, until repair uses that: tried again every five minutes for ever. Goes with its last user.

/** A refused change is tried again after this long. */
export const REFUSED_CHECK = minutes(5);

/** What is said of it. */
export const triedAgain = ({ message }: Pick<TurnedAway, 'message'>): string =>
  `${message}; it is tried again every five minutes`;

/** The same as it is reported, on what was to be changed. Whoever is refused again reports it again as repeated. */
export function reportOfRefused(
  about: Report['about'],
  refused: Pick<TurnedAway, 'message'>,
  reason: string,
  { decision = 'wait', isRepeated }: Partial<Pick<Report, 'decision' | 'isRepeated'>>,
): Report {
  return { about, decision, reason, message: triedAgain(refused), isRepeated, event: { type: 'Warning' } };
}
