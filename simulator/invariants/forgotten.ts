/**
 * I12: what still stands is not forgotten. A fact that a record has said stays in it as long as something in the cluster refers to it, whatever
 * its age and whatever else is remembered. What a lost table, or one restored from a backup, took with it is not ours to remember.
 */
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { answersOfDrains, endsOfDrains } from './drain-memory.ts';
import { finalizersOfFinalizerRules, poolsThatWent } from './promise-memory.ts';
import { actsOfRepair, guardsOfRepair, incidentsOfRepair } from './repair-memory.ts';
import type { CheckContext, MakeCheck } from './invariant.ts';
import type { Fact, MakeMemory, Memory } from './stored-fact.ts';

const MEMORIES: readonly MakeMemory[] = [
  answersOfDrains,
  endsOfDrains,
  actsOfRepair,
  incidentsOfRepair,
  guardsOfRepair,
  finalizersOfFinalizerRules,
  poolsThatWent,
];

export const checkForgotten: MakeCheck = context => {
  const checks = MEMORIES.map(make => followMemory(context, make(context)));
  return {
    onRecord(key, record) {
      for (const check of checks) check(key, record);
    },
  };
};

type Noted = Fact & { /** When it was stored first. */ readonly time: number };

function followMemory({ now, memoryOf, violate }: CheckContext, { isIn, factsIn }: Memory) {
  const known = new Map<string, ReadonlyMap<string, Noted>>();
  return (key: string, record: NewRecord | undefined): void => {
    if (!isIn(key)) return;
    const before = known.get(key) ?? new Map<string, Noted>();
    const facts = record === undefined ? new Map<string, Fact>() : factsIn(record);
    for (const [id, { words, time, referrer }] of before) {
      if (facts.has(id) || memoryOf(time) !== 'whole') continue;
      const why = referrer(record);
      if (why !== undefined) violate('I12', `the record ${key} forgets ${words}, although ${why}`);
    }
    const noted = [...facts].map(([id, fact]) => [id, { ...fact, time: before.get(id)?.time ?? now() }] as const);
    if (noted.length === 0) known.delete(key);
    else known.set(key, new Map(noted));
  };
}
