/** Which faults a seed runs under: a mix, less some kinds, so that a common fault does not hide what a rare one does. */
import { createRandom } from '../random.ts';
import {
  CALL_FAULTS,
  FAULT_MIXES,
  withClocksAhead,
  type FaultKind,
  type FaultMix,
  type FaultMixName,
} from '../faults/mix.ts';
import { pickSome, pickWeighted } from './generate/draw.ts';
import { HARDSHIPS_FROM } from './generate/hardships.ts';

export interface SeedFaults {
  readonly mix: FaultMixName;
  /** Kinds of the mix that do not happen. */
  readonly without: readonly FaultKind[];
  /** Kinds that happen far more often than in the mix: what takes two of them in a row is rare otherwise. */
  readonly more: readonly FaultKind[];
  /** Whether functions' clocks may be ahead of the cluster's, not only behind. */
  readonly clocksAhead: boolean;
}

export const NO_FAULTS: SeedFaults = { mix: 'none', without: [], more: [], clocksAhead: false };

/** The kinds of fault that a mix injects, and that a seed may leave out or have more of. `redrive` shows in runs of days alone, and is in each of them. */
export function kindsOf(name: FaultMixName): readonly FaultKind[] {
  const mix = FAULT_MIXES[name];
  if (mix === undefined) return [];
  return [...keysOf(mix.probability), ...keysOf(mix.perHour)].filter(kind => kind !== 'redrive');
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
  // A forwarder that starts again publishes everything, and with it what was lost before.
  const restarts = kindsOf(mix).filter(
    kind => kind === 'forwarderRestart' && !some.includes(kind) && random.chance(0.5),
  );
  const without = [...some, ...restarts];
  const clocksAhead = mix !== 'none' && random.chance(0.4);
  // Slow calls are common as it is.
  const left = kindsOf(mix).filter(kind => kind !== 'latency' && !without.includes(kind));
  const more = random.chance(0.4) ? pickSome(random, left, 0.15) : [];
  return { mix, without, more: seed >= HARDSHIPS_FROM ? withOneFailure(more) : more, clocksAhead };
}

/**
 * For a run of days: none of the faults of calls is frequent. A quarter of the calls that fail, so long, keep a message from its end until its
 * queue gives it up, as nothing does that is up at all.
 */
export const forDays = ({ more, ...faults }: SeedFaults): SeedFaults => ({
  ...faults,
  more: more.filter(kind => !isCallFault(kind)),
});

/** Several kinds of failure that are all common make four calls of ten fail for hours: no message gets through, and that is no fault of Curfew's. */
function withOneFailure(kinds: readonly FaultKind[]): readonly FaultKind[] {
  const first = kinds.find(isCallFault);
  return kinds.filter(kind => kind === first || !isCallFault(kind));
}

const isCallFault = (kind: FaultKind): boolean => CALL_FAULTS.some(each => each === kind);

const MORE = 8;
const MAX_PROBABLE = 0.25;

/** What a run is given. */
export function toFaultMix({ mix: name, without, more, clocksAhead }: SeedFaults): FaultMixName | FaultMix {
  const named = FAULT_MIXES[name];
  if (named === undefined || (without.length === 0 && more.length === 0 && !clocksAhead)) return name;
  const mix = clocksAhead ? withClocksAhead(named) : named;
  const often = (rate: number): number => Math.max(rate, Math.min(MORE * rate, MAX_PROBABLE));
  return {
    ...mix,
    probability: changed(changed(mix.probability, more, often), without, () => 0),
    perHour: changed(
      changed(mix.perHour, more, rate => 2 * rate),
      without,
      () => 0,
    ),
  };
}

function changed<Rates extends Readonly<Record<string, number>>>(
  rates: Rates,
  kinds: readonly FaultKind[],
  change: (rate: number) => number,
): Rates {
  const entries = kinds.flatMap(kind => {
    const rate = rates[kind];
    return rate === undefined ? [] : [[kind, change(rate)]];
  });
  return { ...rates, ...Object.fromEntries(entries) };
}

/** `Object.keys` with the keys' own type; only for objects that are written down as literals. */
function keysOf<Key extends string>(values: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(values).filter((key): key is Key => key in values);
}
