import { clusterEventSchema, type ClusterEvent } from '../../shared/contract/cluster-event.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import type { EventBus, PublishOutcome } from '../../shared/ports/event-bus.ts';

/** A bus that keeps what it accepted, parsed with the contract's schema. `answer` decides the outcome of each call. */
export function createFakeBus() {
  const events: ClusterEvent[] = [];
  const batchSizes: number[] = [];
  const detailTypes: string[] = [];
  const waiting: (() => void)[] = [];
  let answer: (entries: readonly BusEntry[]) => Promise<readonly PublishOutcome[]> | readonly PublishOutcome[] = accept;

  const bus: EventBus = {
    async publish(entries) {
      batchSizes.push(entries.length);
      const outcomes = await answer(entries);
      for (const [index, entry] of entries.entries()) {
        if (outcomes[index]?.kind !== 'published') continue;
        events.push(clusterEventSchema.parse(entry.detail));
        detailTypes.push(entry.detailType);
      }
      for (const notify of waiting.splice(0)) notify();
      return outcomes;
    },
  };

  return {
    bus,
    /** What was accepted, oldest first. */
    events,
    /** Of the same. */
    detailTypes,
    /** Entries per call, failed calls included. */
    batchSizes,
    /** Resolves after the next call that was answered. */
    nextCall: () => new Promise<void>(resolve => waiting.push(resolve)),
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    failWith: (error: Error) => {
      answer = () => {
        throw error;
      };
    },
    recover: () => {
      answer = accept;
    },
    /** `Added Node/n1 [conditions]`, one per accepted event. */
    lines: () =>
      events.map(({ change, subject, changed }) => `${change} ${subject.kind}/${subject.name} [${changed.join()}]`),
  };
}

function accept(entries: readonly BusEntry[]): readonly PublishOutcome[] {
  return entries.map(() => ({ kind: 'published' }));
}
