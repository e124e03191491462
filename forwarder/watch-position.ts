/**
 * The position of a list-watch, and where it goes on after each step. Pure.
 *
 *   start ─▶ list ─ok─▶ watch ─ends─▶ watch from the last resourceVersion
 *             │ ▲          ├─ error ─▶ after a delay, watch again; after several in a row, list
 *   not served│ │          └─ 410, or silence ─▶ list, compare, report what is gone
 *    (30 s)   └─┘
 */
import { toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';

export interface WatchPosition {
  /** The resourceVersion from which the next watch starts; undefined: list first. */
  readonly from: string | undefined;
  /** Failures in a row. */
  readonly failures: number;
  /** The consumer threw: list again once this watch is over, so that the object is not lost (W2). */
  readonly mustList: boolean;
}

export type WatchStep =
  | { readonly kind: 'listBegins' }
  /** Without `from`: the resource is not served. */
  | { readonly kind: 'listed'; readonly from: string | undefined }
  | { readonly kind: 'messageCame' }
  | { readonly kind: 'messageHandled'; readonly resourceVersion: string | undefined }
  | { readonly kind: 'consumerFailed' }
  /** The position is doubtful: something may have been said that did not arrive (W3). */
  | { readonly kind: 'fellSilent' }
  | { readonly kind: 'watchEnded' }
  /** `expired`: the API server does not know the position any more. */
  | { readonly kind: 'failed'; readonly expired: boolean };

export const START: WatchPosition = { from: undefined, failures: 0, mustList: false };

/** After this many failures in a row the next attempt starts with a list. */
const FAILURES_BEFORE_LIST = 3;

export function next(position: WatchPosition, step: WatchStep): WatchPosition {
  switch (step.kind) {
    case 'listBegins':
      return { ...position, mustList: false };
    case 'listed':
      return { ...position, from: step.from, failures: step.from === undefined ? 0 : position.failures };
    case 'messageCame':
      return { ...position, failures: 0 };
    case 'messageHandled':
      return { ...position, from: step.resourceVersion };
    case 'consumerFailed':
      return { ...position, mustList: true };
    case 'fellSilent':
      return { ...position, from: undefined };
    case 'watchEnded':
      return { ...position, failures: 0, from: position.mustList ? undefined : position.from };
    case 'failed': {
      const failures = position.failures + 1;
      const lists = step.expired || failures >= FAILURES_BEFORE_LIST || position.mustList;
      return { ...position, failures, from: lists ? undefined : position.from };
    }
  }
}

/**
 * The wait after a failure. An expired position is normal: list at once, unless it keeps happening.
 *
 * @param asked what the API server asks for
 */
export function delayAfter(
  { failures }: WatchPosition,
  { expired, asked = 0 }: { readonly expired: boolean; readonly asked?: number | undefined },
  backoff: BackoffRange,
  random?: RandomSource,
): DurationMs {
  const own = backoffDelay(expired ? failures - 1 : failures, backoff, random);
  return toDurationMs(Math.max(own, Math.min(asked, backoff.longest)));
}
