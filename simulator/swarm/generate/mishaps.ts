/**
 * Mishaps of the installation itself, by operators and AWS, laid over any story: late messages, redrives, functions of the version before, a
 * table that is restored.
 */
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import {
  addDuration,
  durationBetween,
  hours,
  minutes,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { StepAction } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import type { Draft } from './model.ts';

/** From here on every seed has some, beside hardships. Seeds below draw what they have always drawn. */
export const MISHAPS_FROM = 200_000;
/** From here on etcd may go back to a snapshot as well. */
export const CLUSTER_RESTORES_FROM = 300_000;

const MAX_MISHAPS = 3;

/** Duration of one call of Curfew's; undefined: no time at all. */
export function drawCallDuration(random: Random): DurationMs | undefined {
  if (random.chance(0.5)) return undefined;
  return toDurationMs(random.pick([7, 40, 150]));
}

interface MishapContext {
  readonly random: Random;
  readonly time: EpochMs;
  /** What is left of the time in which steps are taken. */
  readonly left: DurationMs;
}
type Mishap = (context: MishapContext) => readonly Draft[];

const step = (time: EpochMs, action: StepAction): Draft => ({ time, act: () => action });

/** Messages of seconds or minutes come minutes, hours or days later, to one inbox or to all; none after the calm has begun. */
const lateMessages: Mishap = ({ random, time, left }) => {
  const span = drawDuration(random, seconds(1), random.pick([seconds(20), minutes(10)]));
  const by = drawDuration(random, minutes(1), random.pick([minutes(20), hours(5), hours(50)]));
  const most = durationBetween(addDuration(time, span), addDuration(time, left));
  const late = toDurationMs(Math.min(by, most));
  if (late <= 0) return [];
  return [
    step(time, {
      kind: 'delay',
      function: random.chance(0.3) ? undefined : random.pick(FUNCTION_NAMES),
      for: span,
      by: late,
    }),
  ];
};

const redrives: Mishap = ({ random, time }) =>
  FUNCTION_NAMES.filter(() => random.chance(0.5)).map(name => step(time, { kind: 'redrive', function: name }));

const rolledBack: Mishap = ({ random, time }) => [
  step(time, { kind: 'rollback', for: drawDuration(random, seconds(30), random.pick([minutes(5), minutes(90)])) }),
];

const tableRestored: Mishap = ({ random, time }) => {
  const age = random.chance(0.3) ? undefined : drawDuration(random, seconds(10), random.pick([minutes(10), hours(4)]));
  return [step(time, { kind: 'restore', of: 'table', age })];
};

const clusterRestored: Mishap = ({ random, time, left }) => {
  const age = drawDuration(random, seconds(10), random.pick([minutes(10), hours(4)]));
  const drafts = [step(time, { kind: 'restore', of: 'cluster', age })];
  // As a rule nobody reaches it while it is restored.
  const away = drawDuration(random, seconds(5), minutes(4));
  if (random.chance(0.3) || away >= left) return drafts;
  const begin = addDuration(time, toDurationMs(0 - Math.ceil(away / 2)));
  return [step(begin, { kind: 'outage', of: 'api', for: away }), ...drafts];
};

const MISHAPS: readonly (readonly [weight: number, mishap: Mishap])[] = [
  [3, lateMessages],
  [1, redrives],
  [2, rolledBack],
  [3, tableRestored],
];
const MISHAPS_AND_RESTORES: typeof MISHAPS = [...MISHAPS, [9, clusterRestored]];

interface Drawn {
  readonly seed: number;
  readonly start: EpochMs;
  /** In which steps are taken. */
  readonly span: DurationMs;
}

export function drawMishaps(random: Random, { seed, start, span }: Drawn): readonly Draft[] {
  const mishaps = seed >= CLUSTER_RESTORES_FROM ? MISHAPS_AND_RESTORES : MISHAPS;
  return times(random.integer(1, MAX_MISHAPS)).flatMap(index => {
    const own = random.stream(String(index));
    const offset = drawDuration(own, seconds(0), span);
    const context = { random: own, time: addDuration(start, offset), left: toDurationMs(span - offset) };
    return pickWeighted(own, mishaps)(context);
  });
}
