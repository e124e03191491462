/**
 * Calls of Curfew that the API server refuses for a while, up to hours: by verb and kind, with statuses that pass and that do not, in any step
 * of terminations and rules. Drawn from a stream of their own, so that clusters without them stay as they are.
 */
import { addDuration, minutes, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Refusal } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
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

export function drawRefusals(random: Random, model: Model, start: EpochMs, span: DurationMs): readonly Draft[] {
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
