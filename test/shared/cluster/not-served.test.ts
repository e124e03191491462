import { getHeapStatistics, queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { createPauseIfNotServed } from '../../../shared/cluster/not-served.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { addDuration, minutes, seconds, toEpochMs, type DurationMs } from '../../../shared/domain/time.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { KindNotServed } from '../../../shared/ports/read-answer.ts';

const noRecord: TimedRecord<unknown> = {
  key: { owner: 'grace-period', id: 'x' },
  isWakeUpSuperseded: async () => false,
  load: async () => ({ kind: 'none' }),
  save: async () => ({ kind: 'done', written: true }),
  release: async () => ({ kind: 'done' }),
  closeNow: async () => ({ kind: 'done' }),
};

/** Says of Nodes that their pools cannot be seen. */
function start() {
  let now = toEpochMs(0);
  let said = 0;
  const pause = createPauseIfNotServed({
    clock: { now: () => now, sleep: async () => undefined },
    reporter: { report: async () => void (said += 1) },
  });
  return {
    pass: (duration: DurationMs) => (now = addDuration(now, duration)),
    said: () => said,
    look: (uid: string) =>
      pause(
        async () => {
          throw new KindNotServed(RESOURCES.NodePool);
        },
        {
          openedRecord: () => noRecord,
          firstState: () => ({ subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid }, value: {} }),
        },
      ),
  };
}

it('what is still not served is said again after an hour', async () => {
  const { look, pass, said } = start();
  await look('u1');
  pass(minutes(59));
  await look('u1');
  expect(said()).toBe(1);
  pass(minutes(1));
  await look('u1');
  expect(said()).toBe(2);
});

it('what was said of Nodes that are gone is forgotten after an hour', async () => {
  const { look, pass } = start();
  const bytesAfter = async (from: number): Promise<number> => {
    for (let index = from; index < from + 10_000; index += 1) {
      await look(`${index}`.padStart(1000, '0'));
      pass(seconds(1));
    }
    queryObjects(Map, { format: 'count' });
    return getHeapStatistics().used_heap_size;
  };
  const before = await bytesAfter(0);
  expect((await bytesAfter(10_000)) - before).toBeLessThan(2_000_000);
  // What it remembers was alive until now.
  await look('u1');
});
