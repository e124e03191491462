/** The rule of rounds: what follows a request or the timer. Pure. */
import { isDue, type EpochMs } from '../domain/time.ts';

/** More names than these stand for everything. */
const MAX_SCOPES = 100;

/** The scope of a round: names, or everything. */
export type Scopes = readonly string[] | 'all';

/** One thing that is asked for. */
export type Ask =
  /** Everything that the round could be about. */
  | { readonly kind: 'all' }
  | { readonly kind: 'scope'; readonly name: string }
  /** An ask with a message of its own, so `all` never replaces it. */
  | { readonly kind: 'message'; readonly text: string };

export interface RoundState {
  readonly waiting: readonly Ask[];
  /** The asks of the round at work; empty: no round is at work. */
  readonly underWay: readonly Ask[];
  /** No round begins earlier. */
  readonly nextTime: EpochMs;
}

export type NextTurn =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'begin'; readonly asks: readonly Ask[] }
  /** `hasOwnMessage`: as in `TimedRecord.save`. */
  | { readonly kind: 'wait'; readonly state: RoundState; readonly wakeTime: EpochMs; readonly hasOwnMessage: boolean }
  /** Nothing waits, and the time after the last round is over. */
  | { readonly kind: 'close' };

/** Decides what follows a request (or, where nothing is asked for, the timer). */
export function nextTurn(
  stored: (RoundState & { readonly armed: EpochMs | undefined }) | undefined,
  requested: readonly Ask[],
  now: EpochMs,
): NextTurn {
  if (stored === undefined) {
    return isEmpty(requested) ? { kind: 'nothing' } : { kind: 'begin', asks: requested };
  }
  const { underWay, nextTime, armed = now } = stored;
  const waiting = join(stored.waiting, requested);
  const state: RoundState = { waiting, underWay, nextTime };
  if (!isEmpty(underWay)) {
    // The timer of a round at work comes only when it has died.
    return isDue(now, armed)
      ? { kind: 'begin', asks: join(waiting, underWay) }
      : { kind: 'wait', state, wakeTime: armed, hasOwnMessage: false };
  }
  if (!isDue(now, nextTime)) return { kind: 'wait', state, wakeTime: nextTime, hasOwnMessage: true };
  return isEmpty(waiting) ? { kind: 'close' } : { kind: 'begin', asks: waiting };
}

/** Whether nothing is asked for. */
export const isEmpty = (asks: readonly Ask[]): boolean => asks.length === 0;

export const ALL: Ask = { kind: 'all' };

/** The scopes of a round with these asks. */
export const scopesOf = (asks: readonly Ask[]): Scopes =>
  asks.some(({ kind }) => kind === 'all') ? 'all' : asks.flatMap(ask => (ask.kind === 'scope' ? ask.name : []));

/** The stored form of an ask. */
export function textOf(ask: Ask): string {
  switch (ask.kind) {
    case 'all':
      return '*';
    case 'scope':
      return ask.name;
    case 'message':
      return `!${ask.text}`;
  }
}

export function askOf(text: string): Ask {
  if (text === '*') return ALL;
  if (text.startsWith('!')) return { kind: 'message', text: text.slice(1) };
  return { kind: 'scope', name: text };
}

/** The asks of both, each once. */
export function join(a: readonly Ask[], b: readonly Ask[]): readonly Ask[] {
  const asks = [...new Set([...a, ...b].map(textOf))].toSorted().map(askOf);
  const scopes = scopesOf(asks);
  if (scopes !== 'all' && scopes.length <= MAX_SCOPES) return asks;
  return [ALL, ...asks.filter(({ kind }) => kind === 'message')];
}
