/** How repair says that an act came to nothing, or that nobody knows what came of it. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
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
