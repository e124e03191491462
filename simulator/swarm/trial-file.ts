/** A trial as a scenario file: what happens stands in `spec`, the chance that went with it in annotations. */
import type { FaultKind, FaultMixName } from '../faults/mix.ts';
import { FAULT_MIXES } from '../faults/mix.ts';
import { printScenario } from '../scenario/print.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { kindsOf, type SeedFaults } from './faults.ts';
import { formatFailure, type Failure, type Trial } from './seed.ts';

const SEED = 'sim.curfew.dev/seed';
const FAULTS = 'sim.curfew.dev/faults';
/** Kinds of fault that do not happen in this scenario, whatever the mix; separated by commas. */
const WITHOUT_FAULTS = 'sim.curfew.dev/without-faults';
/** Kinds that happen far more often than in the mix. */
const MORE_FAULTS = 'sim.curfew.dev/more-faults';
/** `"true"`: functions' clocks may be ahead of the cluster's. */
const CLOCKS_AHEAD = 'sim.curfew.dev/clocks-ahead';

/** @param file where it will be, for the command that replays it */
export function printTrial({ scenario, seed, faults }: Trial, failure: Failure, file: string): string {
  const annotations = {
    ...scenario.annotations,
    [SEED]: String(seed),
    [FAULTS]: faults.mix,
    ...(faults.without.length > 0 && { [WITHOUT_FAULTS]: faults.without.join(', ') }),
    ...(faults.more.length > 0 && { [MORE_FAULTS]: faults.more.join(', ') }),
    ...(faults.clocksAhead && { [CLOCKS_AHEAD]: 'true' }),
  };
  const [message = ''] = formatFailure(failure).split('\n');
  return printScenario({ ...scenario, annotations }, [message, `Replay: ${replayCommand(file, seed, faults.mix)}`]);
}

export function replayCommand(file: string, seed: number, mix: FaultMixName): string {
  return `npx curfew simulate ${file} --seed ${seed} --faults ${mix}`;
}

/** The trial that a file describes. Without annotations: seed 1, no faults. */
export function toTrial(scenario: Scenario): Trial {
  const { [SEED]: seed = '1', [FAULTS]: name = 'none' } = scenario.annotations;
  const mix = isMixName(name) ? name : 'none';
  return { scenario, seed: Number(seed), faults: faultsFor(scenario, mix) };
}

/** A mix, less or more what the scenario's annotations say. */
export function faultsFor({ annotations }: Pick<Scenario, 'annotations'>, mix: FaultMixName): SeedFaults {
  const listed = (annotation: string): readonly FaultKind[] => {
    const names = (annotations[annotation] ?? '').split(',').map(name => name.trim());
    return kindsOf(mix).filter(kind => names.includes(kind));
  };
  return {
    mix,
    without: listed(WITHOUT_FAULTS),
    more: listed(MORE_FAULTS),
    clocksAhead: mix !== 'none' && annotations[CLOCKS_AHEAD] === 'true',
  };
}

const isMixName = (name: string): name is FaultMixName => Object.hasOwn(FAULT_MIXES, name);
