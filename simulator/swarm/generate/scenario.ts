/** A random cluster with a random story, all from the seed: the same seed is the same scenario. */
import {
  addDuration,
  durationBetween,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { isArray, isObject } from '../../../packages/kube-apiserver/src/json.ts';
import type { JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import { createRandom, type Random } from '../../random.ts';
import {
  ACTORS,
  type Actor,
  GENERATED_ANNOTATION,
  type PlacedManifest,
  type Scenario,
  type Step,
} from '../../scenario/scenario.ts';
import { drawChecks } from './checks.ts';
import { drawDenials } from './denials.ts';
import { drawDuration, pickSome, pickWeighted, times } from './draw.ts';
import { drawCleanupWorkers, drawRuleDeletions } from './finalizer-rules.ts';
import { CROWD, FOCUSES, INCIDENTS, INCIDENTS_FROM, NEWS, NEWS_FROM, type Focus } from './focus.ts';
import { drawHardships, HARDSHIPS_FROM } from './hardships.ts';
import { drawHookWork } from './hook-resources.ts';
import {
  drawDrifts,
  drawKarpenters,
  drawReboots,
  KARPENTER_REBOOTS_FROM,
  KARPENTERS_FROM,
  withKarpenters,
} from './karpenters.ts';
import { drawLasting, drawRefusals } from './lasting.ts';
import { drawCallDuration, drawMishaps, MISHAPS_FROM } from './mishaps.ts';
import { GENERATED, START, type Draft, type Model } from './model.ts';
import { names } from './settings.ts';
import { drawUpheavals } from './upheavals.ts';

/** As long as a name is on EKS. */
const LONG_PREFIX = 'ip-192-168-101-202.eu-central-1.compute.internal-';
const WITHOUT_KARPENTER = ACTORS.filter(actor => actor !== 'karpenter');
const drawActors = (shape: Random): readonly Actor[] => (shape.chance(0.9) ? ACTORS : pickSome(shape, ACTORS, 0.7));

export function generateScenario(seed: number): Scenario {
  const root = createRandom(seed).stream('scenario');
  const focus = focusOf(seed) ?? pickWeighted(root.stream('focus'), FOCUSES);
  const shape = root.stream('shape');
  const isHard = seed >= HARDSHIPS_FROM;
  const hard = root.stream('hardships');
  const model: Model = {
    namePrefix: (isHard && hard.chance(0.3)) || isCrowd(seed) ? LONG_PREFIX : '',
    zones: focus.drawZones(shape),
    pools: names('pool', focus.drawPools(shape)),
    policies: names('policy', focus.drawPolicies(shape)),
    nodes: [],
    pods: [],
    slow: [],
    budgets: [],
    attachments: [],
    kinds: [],
    databases: [],
    durations: [],
    hasLadders: false,
    hasNodeGroups: false,
    hasHookResources: false,
    counter: 0,
  };
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
  const drafts = [
    ...drawDrafts(root.stream('stories'), model, span, focus),
    ...drawDenials(root.stream('denials'), model, START, span),
    ...drawCleanupWorkers(root.stream('workers'), model, START, span),
    ...drawHookWork(root.stream('hook work'), model, START, span),
    ...drawRuleDeletions(root.stream('rules'), model, START, span),
    ...drawLasting(root.stream('lasting'), model, START, span),
    ...drawRefusals(root.stream('refusals'), model, START, span),
    ...drawUpheavals(root.stream('upheavals'), model, START, span),
    ...(isHard ? drawHardships(hard, { model, start: START, span, config, pools: poolsOf(objects) }) : []),
    ...(seed >= MISHAPS_FROM ? drawMishaps(root.stream('mishaps'), { seed, start: START, span }) : []),
    ...(isActing ? drawDrifts(root.stream('drifts'), model, START, span) : []),
    ...(reboots ? drawReboots(root.stream('reboots'), model, START, span) : []),
    ...drawChecks(root.stream('checks'), { objects, model, start: START, span }),
  ];
  return {
    name: `seed-${seed}`,
    annotations: { [GENERATED_ANNOTATION]: 'true' },
    file: GENERATED.file,
    start: START,
    end,
    ...(callDuration !== undefined && { callDuration }),
    config,
    templates: focus.templates,
    actors: new Set([
      ...(isHard && hard.chance(0.1) ? WITHOUT_KARPENTER : drawActors(shape)),
      ...(isActing ? drawKarpenters(root.stream('karpenters'), reboots) : []),
    ]),
    objects,
    steps: carryOut(drafts, lastTime),
    expectations: [],
    doubts: [],
  };
}

const poolsOf = (objects: readonly PlacedManifest[]): readonly string[] =>
  objects.flatMap(({ manifest }) => (manifest.kind === 'NodePool' ? [manifest.name] : []));

/** One of forty of the seeds with Karpenters that act by themselves. */
const isCrowd = (seed: number): boolean => seed >= KARPENTERS_FROM && seed % 40 === 39;

/** What later seeds are about, beside what all may be about. */
function focusOf(seed: number): Focus | undefined {
  if (isCrowd(seed)) return CROWD;
  if (seed >= NEWS_FROM && seed % 4 === 0) return NEWS;
  return seed >= INCIDENTS_FROM && seed % 4 === 1 ? INCIDENTS : undefined;
}

/** An object that is stored has no field that is null, and a file that writes one is doubted: what is absent is left out. */
function withoutEmpty({ manifest, place }: PlacedManifest): PlacedManifest {
  return { manifest: { ...manifest, body: withoutNulls(manifest.body) }, place };
}

function withoutNulls<Value extends JsonValue>(value: Value): Value;
function withoutNulls(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, withoutNulls(field)]],
    ),
  );
}

function drawDrafts(random: Random, model: Model, span: DurationMs, focus: Focus): readonly Draft[] {
  return times(random.integer(1, focus.mostStories)).flatMap(index => {
    const time = addDuration(START, drawDuration(random, seconds(0), span));
    const story = pickWeighted(random, focus.drawStories(random, model));
    return story({ random: random.stream(String(index)), model, time });
  });
}

/** In order of time, so that each step builds on those before it. */
function carryOut(drafts: readonly Draft[], lastTime: EpochMs): readonly Step[] {
  const steps: Step[] = [];
  for (const { time, act } of drafts.toSorted((a, b) => a.time - b.time)) {
    if (time < START || time > lastTime) continue;
    const action = act();
    if (action !== undefined) steps.push({ time, action, place: GENERATED });
  }
  return steps;
}
