/** Carries out one task, in whichever thread. */
import type { FaultMixName } from '../faults/mix.ts';
import { runTrial, trialOf, type Mutation, type SeedReport } from './seed.ts';

/** A module that has `mutationOf(name)`: the mistake of that name. */
export interface MutantRef {
  /** URL. */
  readonly module: string;
  readonly name: string;
}

export interface SeedTask {
  readonly seed: number;
  /** In place of what the seed draws. */
  readonly mix?: FaultMixName;
  readonly mutant?: MutantRef;
}

export async function runTask({ seed, mix, mutant }: SeedTask): Promise<SeedReport> {
  return runTrial(trialOf(seed, mix), mutant && (await mutationOf(mutant)));
}

interface MutantModule {
  readonly mutationOf: (name: string) => Mutation;
}

async function mutationOf({ module, name }: MutantRef): Promise<Mutation> {
  const loaded: unknown = await import(module);
  if (!hasMutations(loaded)) throw new TypeError(`${module} has no mutationOf`);
  return loaded.mutationOf(name);
}

function hasMutations(loaded: unknown): loaded is MutantModule {
  return typeof loaded === 'object' && loaded !== null && 'mutationOf' in loaded;
}
