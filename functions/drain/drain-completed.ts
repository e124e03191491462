/** Puts `DrainCompleted` on the bus: the answer to the sender of a request. */
import { batchesOf, oneByOne } from '../../shared/cluster/in-parallel.ts';
import { DRAIN_MESSAGE_VERSION, type DrainCompleted } from '../../shared/contract/drain-messages.ts';
import { DRAIN_COMPLETED, SOURCES } from '../../shared/contract/names.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { MAX_ENTRIES_PER_CALL, type EventBus } from '../../shared/ports/event-bus.ts';
import type { ObservedNode } from './observe.ts';
import type { FinishedDrain } from './request-record.ts';

type AnsweredNode = DrainCompleted['node'];

/** The Node that was looked at, by its UID (I10). */
export const nodeOf = ({ object: { metadata } }: Pick<ObservedNode, 'object'>): AnsweredNode => ({
  name: metadata.name,
  uid: metadata.uid,
});

function toDrainCompleted(node: AnsweredNode, finished: FinishedDrain): DrainCompleted {
  const { id, status, reason, message, left, drained, scope } = finished;
  const [startTime, endTime] = [toTimestamp(finished.startTime), toTimestamp(finished.endTime)];
  const isDrained = status === 'Succeeded' || status === 'AlreadyDrained';
  return {
    schemaVersion: DRAIN_MESSAGE_VERSION,
    id,
    reason,
    left,
    drained,
    node,
    ...(scope.kind === 'entities' && { entities: scope.entities }),
    status,
    message,
    startTime,
    endTime,
    healthEventStatus: {
      userPodsEvictionStatus: { status, message },
      ...(isDrained && { drainFinishTimestamp: endTime }),
    },
  };
}

/** Sends each answer, whatever becomes of the others. Throws `RetryableError` if the bus did not take one for now: they are all sent again. */
export async function publishAnswers(
  { bus }: { readonly bus: EventBus },
  node: AnsweredNode,
  finished: readonly FinishedDrain[],
): Promise<void> {
  const entries = finished.map(each => ({
    source: SOURCES.drain,
    detailType: DRAIN_COMPLETED,
    detail: toDrainCompleted(node, each),
  }));
  await oneByOne(batchesOf(entries, MAX_ENTRIES_PER_CALL), async batch =>
    oneByOne(await bus.publish(batch), async outcome => {
      if (outcome.kind === 'rejected') throw new TerminalError('DrainCompletedRejected', outcome.message);
      if (outcome.kind === 'published') return;
      throw new RetryableError(`the bus did not take DrainCompleted: ${outcome.code}`, { reason: outcome.code });
    }),
  );
}
