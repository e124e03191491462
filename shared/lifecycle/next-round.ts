/** The rule of rounds: what follows a request or the timer. Pure. */
import { isDue, type EpochMs } from '../domain/time.ts';

/** More names than these stand for everything. */
const MAX_SCOPES = 100;

/** What a round is about: names, or everything. */
export type Scopes = readonly string[] | 'all';

export interface RoundState {
  readonly waiting: Scopes;
  /** What the round at work is about; empty: no round is at work. */
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

/** A name that begins so says more than what is concerned: it is never summed up. */
export const EXACT = '!';
/** Beside exact names: everything. */
const WHOLE = '*';

/** Whether this is about everything, whatever it names beside that. */
export const isWhole = (scopes: Scopes): boolean => scopes === 'all' || scopes.includes(WHOLE);

/** What is asked for by both. */
export function join(a: Scopes, b: Scopes): Scopes {
  const names = [...new Set([a, b].flatMap(scopes => (scopes === 'all' ? [] : scopes)))].toSorted();
  const exact = names.filter(name => name.startsWith(EXACT));
  if (!isWhole(a) && !isWhole(b) && names.length - exact.length <= MAX_SCOPES) return names;
  return exact.length === 0 ? 'all' : [WHOLE, ...exact];
}
