/** Which faults a seed runs under: a mix, less some kinds, so that a common fault does not hide what a rare one does. */
import { createRandom } from '../random.ts';
import { FAULT_MIXES, withClocksAhead, type FaultKind, type FaultMix, type FaultMixName } from '../faults/mix.ts';
import { pickSome, pickWeighted } from './generate/draw.ts';

export interface SeedFaults {
  readonly mix: FaultMixName;
  /** Kinds of the mix that do not happen. */
  readonly without: readonly FaultKind[];
  /** Whether functions' clocks may be ahead of the cluster's, not only behind. */
  readonly clocksAhead: boolean;
}

export const NO_FAULTS: SeedFaults = { mix: 'none', without: [], clocksAhead: false };

/** The kinds of fault that a mix injects. */
export function kindsOf(name: FaultMixName): readonly FaultKind[] {
  const mix = FAULT_MIXES[name];
  if (mix === undefined) return [];
  return [...keysOf(mix.probability), ...keysOf(mix.perHour)];
}

/** @param only the mix of all seeds, in place of one that each seed draws */
export function drawFaults(seed: number, only?: FaultMixName): SeedFaults {
  const random = createRandom(seed).stream('faults');
  const drawn = pickWeighted<FaultMixName>(random, [
    [1, 'none'],
    [3, 'light'],
    [4, 'heavy'],
  ]);
  const mix = only ?? drawn;
  const some = random.chance(0.4) ? [] : pickSome(random, kindsOf(mix), 0.4);
  // A forwarder that starts again tells of everything, and so makes up for whatever was lost before.
  const restarts = kindsOf(mix).filter(
    kind => kind === 'forwarderRestart' && !some.includes(kind) && random.chance(0.5),
  );
  return { mix, without: [...some, ...restarts], clocksAhead: mix !== 'none' && random.chance(0.4) };
}

/** What a run is given. */
export function toFaultMix({ mix: name, without, clocksAhead }: SeedFaults): FaultMixName | FaultMix {
  const named = FAULT_MIXES[name];
  if (named === undefined || (without.length === 0 && !clocksAhead)) return name;
  const mix = clocksAhead ? withClocksAhead(named) : named;
  return { ...mix, probability: switchedOff(mix.probability, without), perHour: switchedOff(mix.perHour, without) };
}

function switchedOff<Rates extends Readonly<Record<string, number>>>(rates: Rates, off: readonly FaultKind[]): Rates {
  return { ...rates, ...Object.fromEntries(off.filter(kind => kind in rates).map(kind => [kind, 0])) };
}

/** `Object.keys` with the keys' own type; only for objects that are written down as literals. */
function keysOf<Key extends string>(values: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(values).filter((key): key is Key => key in values);
}
