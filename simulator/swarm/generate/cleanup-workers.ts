/**
 * Workers that clean up after an event, or after a function that has only handed the work on: they answer on the bus, soon, late, or never.
 * Drawn from a stream of their own, so that clusters without them stay as they are.
 */
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { CLUSTER_NAME, type StepAction } from '../../scenario/scenario.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import type { Draft, Model } from './model.ts';

/** How often somebody says something about an object. */
const ANSWERS = 10;

/** @param uidOf of an object under the rule that was there from the start */
export function drawWorkers(
  random: Random,
  model: Model,
  { start, span }: { readonly start: EpochMs; readonly span: DurationMs },
  { rule, uidOf }: { readonly rule: string; readonly uidOf: (name: string) => string },
): readonly Draft[] {
  if (model.databases.length === 0 || !random.chance(0.5)) return [];
  const handedOn: Draft = { time: start, act: () => ({ kind: 'cleanup', rule, result: 'silent' }) };
  const answers = model.databases.flatMap(name =>
    times(ANSWERS).map((): Draft => {
      const result = pickWeighted(random, [
        [3, 'succeed'],
        [1, 'notFound'],
        [1, 'fail'],
        [1, 'pending'],
      ]);
      const action: StepAction = {
        kind: 'busEvent',
        source: 'curfew.worker',
        detailType: 'TerminationHookAnswered',
        detail: { cluster: CLUSTER_NAME, key: `${uidOf(name)}/${rule}`, result, message: 'said by a worker' },
      };
      return { time: addDuration(start, drawDuration(random, seconds(0), span)), act: () => action };
    }),
  );
  return [handedOn, ...answers];
}
