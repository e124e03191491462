/** Answers how a drain ended: `DrainCompleted` on the bus, one for each request. */
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { MAX_ENTRIES_PER_CALL, type EventBus } from '../../shared/ports/event-bus.ts';
import { toDrainCompleted } from './messages.ts';
import type { FinishedDrain } from './model.ts';

interface Deps {
  readonly bus: EventBus;
}

/** Throws `RetryableError` when the bus did not take one of them: they are all sent again. */
export async function tellAnswers(
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
