/** What repair says when nobody lets it write a policy's status. */
import { minutes } from '../../../shared/domain/time.ts';
import type { TurnedAway } from '../../../shared/lifecycle/refusals.ts';
import type { Report } from '../../../shared/lifecycle/reporter.ts';

/** A refused change is tried again after this long. */
export const REFUSED_CHECK = minutes(5);

/** The refusal as it is reported, on what was to be changed. Whoever is refused again reports it again as repeated. */
export function reportOfRefused(
  about: Report['about'],
  { message }: Pick<TurnedAway, 'message'>,
  reason: string,
  { isRepeated }: Pick<Report, 'isRepeated'>,
): Report {
  const text = `${message}; it is tried again every five minutes`;
  return { about, decision: 'refused', reason, message: text, isRepeated, event: { type: 'Warning' } };
}
