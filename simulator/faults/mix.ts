/** Which faults happen how often. Probabilities are per opportunity: a call, a message, a watch event. */

import { seconds, type DurationMs } from '../../shared/domain/time.ts';

/** Faults of one call of a port; at most one of them happens to a call. */
export const CALL_FAULTS = [
  /** Turned away before it ran. */
  'throttled',
  /** 5xx before anything was done. */
  'serverError',
  /** No answer, and nothing was done; the caller cannot know. */
  'timeout',
  /** Done, and the answer was lost. */
  'lostResponse',
  /** 409 where the object did not change: the server gave up merging. */
  'conflict',
  /** The process dies before the call is sent. */
  'crashBefore',
  /** The process dies when the call is done. */
  'crashAfter',
  /** The process dies, and the call takes effect some seconds later. */
  'crashInFlight',
] as const;
export type CallFault = (typeof CALL_FAULTS)[number];

/**
 * Those that leave the caller alive. A forwarder makes calls by the thousand where a function makes ten: dying at one in fifty of
 * them it would never get through a large cluster. It dies at random instants instead (`forwarderRestart`).
 */
export const SURVIVABLE_CALL_FAULTS: readonly CallFault[] = CALL_FAULTS.filter(fault => !fault.startsWith('crash'));

export const MESSAGE_FAULTS = [
  /** Delivered twice, the second time later. */
  'duplicate',
  /** Delivered late, and so overtaken by others. */
  'delay',
  /** Taken by a reader that was never heard of again: back after the visibility timeout. */
  'redelivery',
  /** Delivered once more, days later: a dead letter that somebody sent again, though it had done its work. Last, so that it moves no draw of the others. */
  'redrive',
] as const;
export type MessageFault = (typeof MESSAGE_FAULTS)[number];

export const WATCH_FAULTS = [
  /** The connection breaks. */
  'watchDrop',
  /** The connection breaks, and the history is compacted: 410. */
  'watchExpired',
  /** The connection stays open and says nothing more. */
  'watchStall',
] as const;
export type WatchFault = (typeof WATCH_FAULTS)[number];

export type FaultKind =
  | CallFault
  | MessageFault
  | WatchFault
  | 'latency'
  /** The bus refuses one entry of a batch; half of the time it has taken it. */
  | 'busEntry'
  /** The due index has not seen a record yet. */
  | 'staleIndex'
  | 'forwarderRestart'
  | 'outage';

export interface FaultMix {
  readonly probability: Readonly<
    Record<CallFault | MessageFault | WatchFault | 'latency' | 'busEntry' | 'staleIndex', number>
  >;
  /** Expected number in a simulated hour; outages are of each part. */
  readonly perHour: Readonly<Record<'forwarderRestart' | 'outage', number>>;
  /** How far a function's clock may be off the cluster's. */
  readonly clockSkew: { readonly behind: DurationMs; readonly ahead: DurationMs };
}

/**
 * Clocks that are behind make things late. One that is ahead makes them early by as much, which nobody can notice from within: a
 * scenario that says "not before" would fail for no fault of Curfew's, so the named mixes have none; see `withClocksAhead`.
 */
const CLOCKS_BEHIND = { behind: seconds(2), ahead: seconds(0) };

const LIGHT: FaultMix = {
  probability: {
    throttled: 0.003,
    serverError: 0.003,
    timeout: 0.002,
    lostResponse: 0.003,
    conflict: 0.002,
    crashBefore: 0.001,
    crashAfter: 0.002,
    crashInFlight: 0.0005,
    latency: 0.05,
    duplicate: 0.02,
    delay: 0.05,
    redelivery: 0.005,
    redrive: 0.02,
    watchDrop: 0.01,
    watchExpired: 0.003,
    watchStall: 0.002,
    busEntry: 0.02,
    staleIndex: 0.02,
  },
  perHour: { forwarderRestart: 0.2, outage: 0.1 },
  clockSkew: CLOCKS_BEHIND,
};

const HEAVY: FaultMix = {
  probability: {
    throttled: 0.01,
    serverError: 0.01,
    timeout: 0.008,
    lostResponse: 0.012,
    conflict: 0.008,
    crashBefore: 0.006,
    crashAfter: 0.01,
    crashInFlight: 0.003,
    latency: 0.3,
    duplicate: 0.1,
    delay: 0.2,
    redelivery: 0.03,
    redrive: 0.06,
    watchDrop: 0.05,
    watchExpired: 0.02,
    watchStall: 0.01,
    busEntry: 0.1,
    staleIndex: 0.1,
  },
  perHour: { forwarderRestart: 1, outage: 0.5 },
  clockSkew: CLOCKS_BEHIND,
};

/** The mix with clocks that are up to 2 s ahead as well; the invariants allow for that much. */
export function withClocksAhead(mix: FaultMix): FaultMix {
  return { ...mix, clockSkew: { behind: seconds(2), ahead: seconds(2) } };
}

export const FAULT_MIXES = { none: undefined, light: LIGHT, heavy: HEAVY } as const;
export type FaultMixName = keyof typeof FAULT_MIXES;
