/**
 * Calls of Curfew that the API server refuses for a while, up to hours: by verb and kind, with statuses that pass and that do not, in any step
 * of terminations and rules. Drawn from a stream of their own, so that clusters without them stay as they are.
 */
import { addDuration, minutes, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Refusal, StepAction } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { HOOKS } from './hook-resources.ts';
import type { Draft, Model } from './model.ts';

type Verb = NonNullable<Refusal['verb']>;

const TARGETS: readonly (readonly [resource: string, verbs: readonly Verb[]])[] = [
  ['nodeclaims', ['get', 'list', 'patch', 'delete']],
  ['nodes', ['get', 'list', 'patch', 'delete']],
  ['pods', ['list', 'patch', 'delete']],
  ['volumeattachments', ['list']],
  ['nodelifecyclepolicies', ['list']],
  ['finalizerrules', ['list', 'patch']],
  ['manageddatabases', ['get', 'patch']],
];
const STATUSES = [403, 429, 500, 503] as const;

/** What else a step of a termination or a rule asks of: evictions, a hook of each transport, what its author reads, the end of the instance. */
const OF_STEPS: readonly (readonly [resource: string, verbs: readonly Verb[]])[] = [
  ['pods', ['evict']],
  ['hookworks', ['create', 'get']],
  ['configmaps', ['get']],
  ['events', ['create']],
  ['manageddatabases', ['list']],
  ['finalizerrules', ['get']],
];

export function drawRefusals(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  return [...drawEarlier(random, model, start, span), ...drawOfSteps(random.stream('steps'), model, start, span)];
}

/** In a stream of its own again, for the same reason. */
function drawOfSteps(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.nodes.length + model.databases.length === 0 || !random.chance(0.15)) return [];
  const isThere = (resource: string): boolean =>
    (resource !== 'manageddatabases' || model.databases.length > 0) &&
    (resource !== 'hookworks' || model.hasHookResources);
  const targets = OF_STEPS.filter(([resource]) => isThere(resource));
  return times(random.integer(1, 2)).flatMap((): readonly Draft[] => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const length = pickWeighted<DurationMs>(random, [
      [1, drawDuration(random, seconds(10), minutes(5))],
      [2, drawDuration(random, minutes(5), minutes(180))],
    ]);
    const [resource, verbs] = random.pick(targets);
    const as = { status: random.pick(STATUSES) };
    const refusal = { verb: random.pick(verbs), resource, by: 'finalizer', as } as const;
    const end = addDuration(time, length);
    return pickWeighted<readonly Draft[]>(random, [
      [3, [{ time, act: () => ({ kind: 'refuse', refusal, for: length }) }]],
      [1, model.nodes.length === 0 ? [] : cloudRefuses(random, random.pick(model.nodes).providerID, time, end)],
      [1, hookFails(random, time, end)],
    ]);
  });
}

const cloudRefuses = (random: Random, providerID: string, time: EpochMs, end: EpochMs): readonly Draft[] => {
  const fail = random.pick(['throttle', 'error'] as const);
  return [
    { time, act: () => ({ kind: 'cloud', providerID, fail }) },
    { time: end, act: () => ({ kind: 'cloud', providerID, fail: 'none' }) },
  ];
};

const hookFails = (random: Random, time: EpochMs, end: EpochMs): readonly Draft[] => {
  const name = random.pick(HOOKS);
  const say = (result: 'succeed' | 'fail'): StepAction => ({ kind: 'hook', name, result, message: 'no' });
  return [
    { time, act: () => say('fail') },
    { time: end, act: () => say('succeed') },
  ];
};

function drawEarlier(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
  if (model.attachments.length + model.databases.length === 0 || !random.chance(0.2)) return [];
  const targets = TARGETS.filter(([resource]) => resource !== 'manageddatabases' || model.databases.length > 0);
  return times(random.integer(1, 2)).map((): Draft => {
    const time = addDuration(start, drawDuration(random, seconds(0), span));
    const [resource, verbs] = random.pick(targets);
    const length = pickWeighted<DurationMs>(random, [
      [3, drawDuration(random, seconds(10), minutes(5))],
      [1, drawDuration(random, minutes(5), minutes(180))],
    ]);
    const as = { status: random.pick(STATUSES) };
    const refusal = { verb: random.pick(verbs), resource, by: 'finalizer', as } as const;
    return { time, act: () => ({ kind: 'refuse', refusal, for: length }) };
  });
}
