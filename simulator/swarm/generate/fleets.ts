/**
 * Fleets as users have them: hundreds to two thousand nodes over days, in many NodePools of which each is about one concern. Most of it is calm. Now and
 * then one pool has as much happen to it as a small cluster of the other seeds has.
 */
import {
  addDuration,
  durationBetween,
  hours,
  minutes,
  toDurationMs,
  type DurationMs,
} from '../../../shared/domain/time.ts';
import { createRandom, type Random } from '../../random.ts';
import { ACTORS, type PlacedManifest, type Scenario } from '../../scenario/scenario.ts';
import { generated, withoutEmpty } from './carry-out.ts';
import { ZONES } from './cluster.ts';
import { drawCalm } from './fleet-calm.ts';
import { drawDrainConfig, TEMPLATES } from './drains.ts';
import { drawDuration, pickWeighted, times } from './draw.ts';
import { drawEpisode } from './episode.ts';
import { drawDistrict, ofFleet, viewOf, type District } from './fleet-districts.ts';
import { drawDailyLife } from './fleet-life.ts';
import { OPEN_GATE } from './focus.ts';
import { HOOK_TEMPLATES } from './hook-resources.ts';
import { drawKarpenters } from './karpenters.ts';
import { drawDraining, FIX_TEMPLATES } from './ladders.ts';
import { drawCallDuration, drawMishaps } from './mishaps.ts';
import { LONG_PREFIX, newModel, START, type Draft, type Model } from './model.ts';

/** From here on seeds draw fleets. Seeds below draw what they have always drawn. */
export const FLEETS_FROM = 600_000;

const FEWEST_NODES = 300;
const MAX_NODES = 2_000;
const MAX_DISTRICTS = 12;
/** In a district and for so many nodes, as a rule, one in the whole run. */
const NODES_PER_EPISODE = 500;
const FEWEST_EPISODES = 3;
/** What the districts begin with is seen to after that time. */
const FIRST_TROUBLES = hours(2);
const CALM_END = minutes(40);

export function generateFleet(seed: number): Scenario {
  const root = createRandom(seed).stream('fleet');
  const shape = root.stream('shape');
  const size = shape.integer(FEWEST_NODES, MAX_NODES);
  const duration = drawDuration(shape, hours(96), hours(240));
  const callDuration = shape.chance(0.2) ? drawCallDuration(root.stream('calls')) : undefined;
  const fleet = newModel({
    namePrefix: shape.chance(0.5) ? LONG_PREFIX : '',
    zones: ZONES,
    pools: [],
    policies: [],
  });
  const config = drawFleetConfig(root.stream('config'), fleet);
  const count = shape.integer(3, MAX_DISTRICTS);
  const districts = times(count).map(index =>
    drawDistrict(root.stream(`district ${index}`), fleet, index, Math.floor(size / count)),
  );
  const objects = unique(districts.flatMap(district => district.objects)).map(withoutEmpty);
  const end = addDuration(START, duration);
  const lastTime = addDuration(end, toDurationMs(0 - CALM_END));
  const span = durationBetween(START, lastTime);
  const drafts = [
    ...drawDailyLife(root.stream('life'), districts, START, span),
    ...districts.flatMap(({ model, objects: own, drawn }, index) =>
      drawCalm(root.stream(`begin ${index}`), {
        model: ofFleet(model, { ...model, nodes: drawn }),
        objects: own,
        config,
        end: addDuration(START, FIRST_TROUBLES),
      }),
    ),
    ...drawEpisodes(root, { seed, size, districts, config, span }),
    ...drawMishaps(root.stream('mishaps'), { seed, start: START, span }),
  ];
  return generated(
    seed,
    {
      end,
      ...(callDuration !== undefined && { callDuration }),
      config,
      templates: { ...TEMPLATES, ...HOOK_TEMPLATES, ...FIX_TEMPLATES },
      actors: new Set([...ACTORS, ...(shape.chance(0.25) ? drawKarpenters(root.stream('karpenters'), true) : [])]),
      objects,
    },
    drafts,
    lastTime,
  );
}

function drawFleetConfig(random: Random, fleet: Model): string {
  return pickWeighted<() => string>(random, [
    [3, () => drawDrainConfig(random, fleet)],
    [4, () => `${drawDraining(random)}${OPEN_GATE}`],
    [2, () => OPEN_GATE],
  ])();
}

interface Fleet {
  readonly seed: number;
  readonly size: number;
  readonly districts: readonly District[];
  readonly config: string;
  readonly span: DurationMs;
}

function drawEpisodes(root: Random, { seed, size, districts, config, span }: Fleet): readonly Draft[] {
  const shape = root.stream('episodes');
  return times(FEWEST_EPISODES + shape.integer(0, Math.ceil((2 * size) / NODES_PER_EPISODE))).flatMap(index => {
    const own = root.stream(`episode ${index}`);
    const { focus, model, objects } = own.pick(districts);
    const length = toDurationMs(Math.min(focus.drawDuration(own), span));
    const start = addDuration(START, toDurationMs(own.integer(0, span - length)));
    const view = viewOf(own, model);
    const hard = own.stream('hardships');
    const end = addDuration(start, length);
    return [
      ...drawEpisode(own, { seed, focus, model: view, objects, config, start, span: length, hard, hasMishaps: false }),
      ...drawCalm(own.stream('calm'), { model: view, objects, config, end }),
    ];
  });
}

/** Two districts may need the same kind, or the same namespace. */
function unique(objects: readonly PlacedManifest[]): readonly PlacedManifest[] {
  const known = new Map<string, PlacedManifest>();
  for (const object of objects) {
    const { apiVersion, kind, namespace = '', name } = object.manifest;
    const key = [apiVersion, kind, namespace, name].join(' ');
    if (!known.has(key)) known.set(key, object);
  }
  return [...known.values()];
}
