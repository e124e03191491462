/** The rule of rounds: what follows a request or the timer. Pure. */
import { isDue, type EpochMs } from '../domain/time.ts';

/** More names than these stand for everything. */
const MAX_TARGETS = 100;

/** The targets of a round: names, or everything. */
export type RoundTargets = readonly string[] | 'all';

/** Request for a run of a coalescer: what the run is to look at. */
export type RoundRequest =
  /** Everything that the round could be about. */
  | { readonly kind: 'all' }
  | { readonly kind: 'target'; readonly name: string }
  /** A request with a message of its own, so `all` never replaces it. */
  | { readonly kind: 'message'; readonly text: string };

export interface RoundState {
  readonly waiting: readonly RoundRequest[];
  /** The requests of the round at work; empty: no round is at work. */
  readonly underWay: readonly RoundRequest[];
  /** No round begins earlier. */
  readonly nextTime: EpochMs;
}

export type NextTurn =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'begin'; readonly requests: readonly RoundRequest[] }
  /** `hasOwnMessage`: as in `TimedRecord.save`. */
  | { readonly kind: 'wait'; readonly state: RoundState; readonly wakeTime: EpochMs; readonly hasOwnMessage: boolean }
  /** Nothing waits, and the time after the last round is over. */
  | { readonly kind: 'close' };

/** Decides what follows a request (or, where nothing is asked for, the timer). */
export function nextTurn(
  stored: (RoundState & { readonly armed: EpochMs | undefined }) | undefined,
  requested: readonly RoundRequest[],
  now: EpochMs,
): NextTurn {
  if (stored === undefined) {
    return isEmpty(requested) ? { kind: 'nothing' } : { kind: 'begin', requests: requested };
  }
  const { underWay, nextTime, armed = now } = stored;
  const waiting = join(stored.waiting, requested);
  const state: RoundState = { waiting, underWay, nextTime };
  if (!isEmpty(underWay)) {
    // The timer of a round at work comes only when it has died.
    return isDue(now, armed)
      ? { kind: 'begin', requests: join(waiting, underWay) }
      : { kind: 'wait', state, wakeTime: armed, hasOwnMessage: false };
  }
  if (!isDue(now, nextTime)) return { kind: 'wait', state, wakeTime: nextTime, hasOwnMessage: true };
  return isEmpty(waiting) ? { kind: 'close' } : { kind: 'begin', requests: waiting };
}

/** Whether nothing is asked for. */
export const isEmpty = (requests: readonly RoundRequest[]): boolean => requests.length === 0;

export const ALL: RoundRequest = { kind: 'all' };

/** The targets of a round with these requests. */
export const roundTargetsOf = (requests: readonly RoundRequest[]): RoundTargets =>
  requests.some(({ kind }) => kind === 'all')
    ? 'all'
    : requests.flatMap(request => (request.kind === 'target' ? request.name : []));

/** The stored form of a request. */
export function textOf(request: RoundRequest): string {
  switch (request.kind) {
    case 'all':
      return '*';
    case 'target':
      return request.name;
    case 'message':
      return `!${request.text}`;
  }
}

export function roundRequestOf(text: string): RoundRequest {
  if (text === '*') return ALL;
  if (text.startsWith('!')) return { kind: 'message', text: text.slice(1) };
  return { kind: 'target', name: text };
}

/** The requests of both, each once. */
export function join(a: readonly RoundRequest[], b: readonly RoundRequest[]): readonly RoundRequest[] {
  const requests = [...new Set([...a, ...b].map(textOf))].toSorted().map(roundRequestOf);
  const targets = roundTargetsOf(requests);
  if (targets !== 'all' && targets.length <= MAX_TARGETS) return requests;
  return [ALL, ...requests.filter(({ kind }) => kind === 'message')];
}
