/** A random cluster with a random story, all from the seed: the same seed is the same scenario. */
import { addDuration, durationBetween, toDurationMs } from '../../../shared/domain/time.ts';
import { createRandom, type Random } from '../../random.ts';
import { ACTORS, type Actor, type Scenario } from '../../scenario/scenario.ts';
import { generated, withoutEmpty } from './carry-out.ts';
import { pickSome, pickWeighted } from './draw.ts';
import { drawEpisode } from './episode.ts';
import { FLEETS_FROM, generateFleet } from './fleets.ts';
import { CROWD, FOCUSES, INCIDENTS, INCIDENTS_FROM, NEWS, NEWS_FROM, type Focus } from './focus.ts';
import { HARDSHIPS_FROM } from './hardships.ts';
import { drawKarpenters, KARPENTER_REBOOTS_FROM, KARPENTERS_FROM, withKarpenters } from './karpenters.ts';
import { drawCallDuration, MISHAPS_FROM } from './mishaps.ts';
import { LONG_PREFIX, newModel, START } from './model.ts';
import { names } from './settings.ts';

const WITHOUT_KARPENTER = ACTORS.filter(actor => actor !== 'karpenter');
const drawActors = (shape: Random): readonly Actor[] => (shape.chance(0.9) ? ACTORS : pickSome(shape, ACTORS, 0.7));

export function generateScenario(seed: number): Scenario {
  if (seed >= FLEETS_FROM) return generateFleet(seed);
  const root = createRandom(seed).stream('scenario');
  const focus = focusOf(seed) ?? pickWeighted(root.stream('focus'), FOCUSES);
  const shape = root.stream('shape');
  const isHard = seed >= HARDSHIPS_FROM;
  const hard = root.stream('hardships');
  const model = newModel({
    namePrefix: (isHard && hard.chance(0.3)) || isCrowd(seed) ? LONG_PREFIX : '',
    zones: focus.drawZones(shape),
    pools: names('pool', focus.drawPools(shape)),
    policies: names('policy', focus.drawPolicies(shape)),
  });
  const callDuration = seed >= MISHAPS_FROM ? drawCallDuration(root.stream('calls')) : undefined;
  const duration = focus.drawDuration(shape);
  const end = addDuration(START, duration);
  const config = focus.drawConfig(shape, model);
  const drawn = focus.drawObjects(root.stream('objects'), model, START, shape).map(withoutEmpty);
  const isActing = seed >= KARPENTERS_FROM;
  const reboots = seed >= KARPENTER_REBOOTS_FROM;
  const objects = isActing ? withKarpenters(root.stream('disruption'), drawn, reboots) : drawn;
  const lastTime = addDuration(end, toDurationMs(0 - shape.pick(focus.calmEnds)));
  const span = durationBetween(START, lastTime);
  const drafts = drawEpisode(root, {
    seed,
    focus,
    model,
    objects,
    config,
    start: START,
    span,
    hard,
    hasMishaps: true,
  });
  return generated(
    seed,
    {
      end,
      ...(callDuration !== undefined && { callDuration }),
      config,
      templates: focus.templates,
      actors: new Set([
        ...(isHard && hard.chance(0.1) ? WITHOUT_KARPENTER : drawActors(shape)),
        ...(isActing ? drawKarpenters(root.stream('karpenters'), reboots) : []),
      ]),
      objects,
    },
    drafts,
    lastTime,
  );
}

/** One of forty of the seeds with Karpenters that act by themselves. */
const isCrowd = (seed: number): boolean => seed >= KARPENTERS_FROM && seed % 40 === 39;

/** What later seeds are about, beside what all may be about. */
function focusOf(seed: number): Focus | undefined {
  if (isCrowd(seed)) return CROWD;
  if (seed >= NEWS_FROM && seed % 4 === 0) return NEWS;
  return seed >= INCIDENTS_FROM && seed % 4 === 1 ? INCIDENTS : undefined;
}
