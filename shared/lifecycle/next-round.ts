/** The rule of rounds: what follows a request or the timer. Pure. */
import { isDue, type EpochMs } from '../domain/time.ts';

/** More names than these stand for everything. */
const MAX_SCOPES = 100;

/** What a round is about: names, or everything. */
export type Scopes = readonly string[] | 'all';

export interface RoundState {
  readonly waiting: Scopes;
  /** Of the round at work; none: no round is. */
  readonly underWay: Scopes;
  /** No round begins earlier. */
  readonly nextTime: EpochMs;
}

export type NextTurn =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'begin'; readonly scopes: Scopes }
  /** `punctual`: as in `TimedRecord.save`. */
  | { readonly kind: 'wait'; readonly state: RoundState; readonly wakeTime: EpochMs; readonly punctual: boolean }
  /** Nothing waits, and the time after the last round is over. */
  | { readonly kind: 'close' };

/** What follows a request (or, without scopes, the timer). */
export function nextTurn(
  held: (RoundState & { readonly armed: EpochMs | undefined }) | undefined,
  requested: Scopes,
  now: EpochMs,
): NextTurn {
  if (held === undefined) return isNone(requested) ? { kind: 'nothing' } : { kind: 'begin', scopes: requested };
  const { underWay, nextTime, armed = now } = held;
  const waiting = join(held.waiting, requested);
  if (!isNone(underWay)) {
    // The timer of a round at work comes only when it has died.
    if (isDue(now, armed)) return { kind: 'begin', scopes: join(waiting, underWay) };
    return { kind: 'wait', state: { waiting, underWay, nextTime }, wakeTime: armed, punctual: false };
  }
  if (!isDue(now, nextTime)) {
    const state = { waiting, underWay, nextTime };
    return { kind: 'wait', state, wakeTime: nextTime, punctual: true };
  }
  return isNone(waiting) ? { kind: 'close' } : { kind: 'begin', scopes: waiting };
}

/** Whether nothing is asked for. */
export const isNone = (scopes: Scopes): boolean => scopes.length === 0;

function join(a: Scopes, b: Scopes): Scopes {
  if (a === 'all' || b === 'all') return 'all';
  const names = [...new Set([...a, ...b])].toSorted();
  return names.length > MAX_SCOPES ? 'all' : names;
}
