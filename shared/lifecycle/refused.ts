/**
 * The old form of `refusals.ts`, for the repair function alone until it uses that: tried again every five minutes for ever. Goes with its last user.
 */
import { minutes } from '../domain/time.ts';
import { TerminalError } from '../errors.ts';
import type { About, Report } from './reporter.ts';

export interface Refused {
  readonly kind: 'refused';
  readonly message: string;
  readonly cause: TerminalError;
}

/** A refused change is tried again after this long. */
export const REFUSED_CHECK = minutes(5);

/** What is said of it. */
export const triedAgain = ({ message }: Pick<Refused, 'message'>): string =>
  `${message}; it is tried again every five minutes`;

/**
 * The same as it is reported, on what was to be changed or who waits for it. Whoever is refused again reports it again as repeated: an
 * Event that could not be recorded is lost without a word, and the API server forgets Events after an hour.
 */
export function reportOfRefused(
  about: About,
  refused: Pick<Refused, 'message'>,
  reason: string,
  { decision = 'wait', isRepeated }: Partial<Pick<Report, 'decision' | 'isRepeated'>> = {},
): Report {
  return { about, decision, reason, message: triedAgain(refused), isRepeated, event: { type: 'Warning' } };
}

/** What came of the change. Throws whatever else it failed for. */
export async function orRefused<Outcome>(change: Promise<Outcome>): Promise<Outcome | Refused> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { kind: 'refused', message: error.message, cause: error };
  }
}
