/** One seed of the swarm: its scenario, its faults, its run, and what there is to report. */
import { textAt } from '../../packages/kube-apiserver/src/json.ts';
import { messageOf } from '../../shared/errors.ts';
import { addDuration, durationBetween, hours, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import type { FaultMixName } from '../faults/mix.ts';
import type { InvariantName } from '../invariants/invariant.ts';
import { CONVERGENCE, runScenario, type RunOptions, type RunResult } from '../run.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { drawFaults, forDays, toFaultMix, type SeedFaults } from './faults.ts';
import { generateScenario } from './generate/scenario.ts';

/** All that decides a run: the same trial is the same trace. */
export interface Trial {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly faults: SeedFaults;
}

/** The first thing that went wrong. `Crash`: the run itself ended with an error. */
export interface Failure {
  readonly invariant: InvariantName | 'Crash';
  readonly time: EpochMs;
  readonly message: string;
}

/** Plain data, so that it can come from another thread. */
export interface SeedReport {
  readonly seed: number;
  readonly mix: FaultMixName;
  readonly simulatedHours: number;
  /** Nodes at the start of the run, times its length. */
  readonly nodeHours: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Audit records by `function decision`. */
  readonly decisions: Readonly<Record<string, number>>;
  readonly failure: Failure | undefined;
}

/** A mistake put in on purpose. */
export type Mutation = Pick<RunOptions, 'reconcilers' | 'forwarder' | 'permissions'>;

export function trialOf(seed: number, mix?: FaultMixName): Trial {
  const scenario = generateScenario(seed);
  const faults = drawFaults(seed, mix);
  const isOfDays = durationBetween(scenario.start, scenario.end) > hours(24);
  return { seed, scenario, faults: isOfDays ? forDays(faults) : faults };
}

/**
 * Never rejects: what a run throws is a failure `Crash`. Without faults it ends with the scenario, else `CONVERGENCE`
 * later (I5).
 */
export async function runTrial(trial: Trial, mutation: Mutation = {}): Promise<SeedReport> {
  const { seed, faults, scenario } = trial;
  const end = faults.mix === 'none' ? scenario.end : addDuration(scenario.end, CONVERGENCE);
  const simulatedHours = durationBetween(scenario.start, end) / hours(1);
  const nodes = scenario.objects.filter(({ manifest }) => manifest.kind === 'Node').length;
  const shared = { seed, mix: faults.mix, simulatedHours, nodeHours: nodes * simulatedHours };
  try {
    const result = await runScenario(scenario, {
      seed,
      faults: toFaultMix(faults),
      stopAtViolation: true,
      ...mutation,
    });
    return {
      ...shared,
      faults: Object.fromEntries(result.faults),
      decisions: countDecisions(result),
      failure: result.violations[0],
    };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
    return { ...shared, faults: {}, decisions: {}, failure: { invariant: 'Crash', time: scenario.start, message } };
  }
}

export function formatFailure({ invariant, time, message }: Failure): string {
  return `${invariant} at ${toIsoText(time)}: ${message}`;
}

function countDecisions({ trace }: RunResult): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { kind, line } of trace) {
    if (kind !== 'audit') continue;
    const decision = `${textAt(line, 'function') ?? ''} ${textAt(line, 'decision') ?? ''}`;
    counts.set(decision, (counts.get(decision) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
