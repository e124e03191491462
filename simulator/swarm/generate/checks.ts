/** What EC2's checks say of instances, where some entry asks for that. */
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { CHECK_STATUSES, type PlacedManifest } from '../../scenario/scenario.ts';
import { drawDuration, times } from './draw.ts';
import type { Draft, Model } from './model.ts';

interface Told {
  readonly objects: readonly PlacedManifest[];
  readonly model: Model;
  readonly start: EpochMs;
  readonly span: DurationMs;
}

/** Most instances are impaired at some time, so that what is confirmed is seen as often as what is not. */
export function drawChecks(random: Random, { objects, model, start, span }: Told): readonly Draft[] {
  if (!objects.some(({ manifest }) => JSON.stringify(manifest.body).includes('"confirm":'))) return [];
  return model.nodes.flatMap(({ providerID }) =>
    times(random.integer(1, 3)).map((): Draft => {
      const status = () => (random.chance(0.6) ? 'impaired' : random.pick(CHECK_STATUSES));
      const checks = { InstanceStatus: status(), ApplicationStatus: status() };
      return {
        time: addDuration(start, drawDuration(random, seconds(0), span)),
        act: () => ({ kind: 'cloud', providerID, checks }),
      };
    }),
  );
}
