/** `DrainCompleted` on the bus: the answer to who asked for a drain. */
import type { BusEntry } from '../../shared/contract/envelope.ts';
import { DRAIN_COMPLETED, SOURCES } from '../../shared/contract/names.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { MAX_ENTRIES_PER_CALL, type EventBus } from '../../shared/ports/event-bus.ts';
import type { FinishedDrain } from './request-record.ts';

export const DRAIN_MESSAGE_VERSION = 1;

export interface DrainAnswer {
  readonly id: string;
  readonly node: { readonly name: string; readonly uid?: string };
  /** NVSentinel's words. */
  readonly status: 'Succeeded' | 'Failed' | 'Cancelled' | 'AlreadyDrained';
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** Pods evicted or deleted for it. */
  readonly drained: number;
  /** Pods that should have gone and were not waited for. */
  readonly left: readonly string[];
  /** GPUs that the drain was limited to; absent: all pods. */
  readonly entities?: readonly string[];
  readonly startTime: EpochMs;
  readonly endTime: EpochMs;
}

/**
 * Times in RFC 3339. `healthEventStatus` is NVSentinel's document, whose finish time only a drain that emptied the node
 * has.
 */
function toDrainCompleted(answer: DrainAnswer): BusEntry {
  const { startTime, endTime, status, message, ...rest } = answer;
  const isDrained = status === 'Succeeded' || status === 'AlreadyDrained';
  return {
    source: SOURCES.drain,
    detailType: DRAIN_COMPLETED,
    detail: {
      schemaVersion: DRAIN_MESSAGE_VERSION,
      ...rest,
      status,
      message,
      startTime: toTimestamp(startTime),
      endTime: toTimestamp(endTime),
      // As NVSentinel stores it, for who keeps its documents up to date.
      healthEventStatus: {
        userPodsEvictionStatus: { status, message },
        ...(isDrained && { drainFinishTimestamp: toTimestamp(endTime) }),
      },
    },
  };
}

interface Deps {
  readonly bus: EventBus;
}

/** Throws `RetryableError` when the bus did not take one of them: they are all sent again. */
export async function publishAnswers(
  { bus }: Deps,
  node: { readonly name: string; readonly uid?: string },
  finished: readonly FinishedDrain[],
): Promise<void> {
  const entries = finished.map(({ id, status, reason, message, left, drained, startTime, endTime, scope }) =>
    toDrainCompleted({
      id,
      status,
      reason,
      message,
      left,
      drained,
      startTime,
      endTime,
      node,
      ...(scope.kind === 'entities' && { entities: scope.entities }),
    }),
  );
  for (let start = 0; start < entries.length; start += MAX_ENTRIES_PER_CALL) {
    for (const outcome of await bus.publish(entries.slice(start, start + MAX_ENTRIES_PER_CALL))) {
      if (outcome.kind === 'retry') {
        throw new RetryableError(`the bus did not take DrainCompleted: ${outcome.code}`, { reason: outcome.code });
      }
      if (outcome.kind === 'rejected') throw new TerminalError('DrainCompletedRejected', outcome.message);
    }
  }
}
