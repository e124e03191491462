/** Mistakes in the minute sweep. */
import { withPorts, type Mutant } from './mutant.ts';

export const TIMER_MUTANTS: readonly Mutant[] = [
  {
    name: 'timer-forgets-the-overdue',
    mistake: 'looks for what becomes due, and not for what is overdue',
    breaks: ['I5'],
    seed: 11,
    mutation: withPorts('timer', ({ dueIndex, clock }) => ({
      dueIndex: {
        shardCount: dueIndex.shardCount,
        async queryDue(shard, before, options) {
          const page = await dueIndex.queryDue(shard, before, options);
          return { ...page, records: page.records.filter(({ nextWakeTime }) => nextWakeTime >= clock.now()) };
        },
      },
    })),
  },
  {
    name: 'timer-reads-one-shard',
    mistake: 'sweeps the first shard of the index only',
    breaks: ['I5'],
    scenario: 'do-not-disrupt-worked-examples.yaml#do-not-disrupt-worked-examples',
    mutation: withPorts('timer', ({ dueIndex }) => ({
      dueIndex: {
        shardCount: 1,
        queryDue: (shard, before, options) => dueIndex.queryDue(shard, before, options),
      },
    })),
  },
];
