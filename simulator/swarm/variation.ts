/**
 * Variations of a trial: `12.3` is the third of seed 12, `12.3.1` the first of that. Each changes one thing, drawn from its own name, so the
 * same name is the same trial.
 */
import {
  addDuration,
  minutes,
  toDurationMs,
  toEpochMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { createRandom, type Random } from '../random.ts';
import type { PlacedManifest, Scenario, Step, StepAction } from '../scenario/scenario.ts';
import { drawFaults } from './faults.ts';
import { drawDuration, pickWeighted } from './generate/draw.ts';
import { GENERATED } from './generate/model.ts';
import { trialOf, type Trial } from './seed.ts';
import { isValid } from './valid.ts';

type Variation = (random: Random, trial: Trial) => Trial;

/** Other faults at other instants of the same story. */
const otherChance: Variation = (random, trial) => {
  const seed = random.integer(1, 2 ** 31);
  return { ...trial, seed, faults: drawFaults(seed) };
};

/** Steps keep their time; what is past the end is left out. */
function withSteps({ scenario, ...trial }: Trial, steps: readonly Step[]): Trial {
  const kept = steps.filter(({ time }) => time >= scenario.start && time <= scenario.end);
  return { ...trial, scenario: { ...scenario, steps: kept.toSorted((a, b) => a.time - b.time) } };
}

const withOne = (random: Random, trial: Trial, change: (step: Step) => readonly Step[]): Trial => {
  const { steps } = trial.scenario;
  if (steps.length === 0) return otherChance(random, trial);
  const chosen = random.integer(0, steps.length - 1);
  return withSteps(
    trial,
    steps.flatMap((step, index) => (index === chosen ? change(step) : [step])),
  );
};

const LONGEST_MOVE = minutes(20);

const moved: Variation = (random, trial) =>
  withOne(random, trial, step => {
    const by = drawDuration(random, toDurationMs(0), LONGEST_MOVE);
    return [{ ...step, time: toEpochMs(random.chance(0.5) ? step.time + by : step.time - by) }];
  });

/** To the instant of another, so that the two meet. */
const together: Variation = (random, trial) => {
  if (trial.scenario.steps.length === 0) return otherChance(random, trial);
  const { time } = random.pick(trial.scenario.steps);
  return withOne(random, trial, step => [{ ...step, time }]);
};

/** What is said or changed is said or changed once more. */
const again: Variation = (random, trial) =>
  withOne(random, trial, step => [
    step,
    { ...step, time: addDuration(step.time, drawDuration(random, toDurationMs(0), LONGEST_MOVE)) },
  ]);

const dropped: Variation = (random, trial) => withOne(random, trial, () => []);

const instant = (random: Random, { start, end }: Scenario): EpochMs =>
  toEpochMs(start + Math.floor(random.next() * (end - start)));

const REFUSED_VERBS = ['get', 'list', 'patch', 'delete', 'evict'] as const;
const STATUSES = [403, 409, 422, 429, 500, 503, 504];
const PLURALS: Readonly<Record<string, string>> = { Node: 'nodes', NodeClaim: 'nodeclaims', Pod: 'pods' };

/** Something is out, or is refused, for a while. */
const disturbed: Variation = (random, trial) => {
  const { scenario } = trial;
  const time = instant(random, scenario);
  const length = drawDuration(random, minutes(1), minutes(90));
  const action = pickWeighted<StepAction>(random, [
    [2, { kind: 'outage', of: random.pick(['api', 'bus', 'store'] as const), for: length }],
    [1, { kind: 'restart', part: 'forwarder' }],
    [5, refusal(random, scenario.objects, length)],
  ]);
  return withSteps(trial, [...scenario.steps, { time, action, place: GENERATED }]);
};

function refusal(random: Random, objects: readonly PlacedManifest[], length: DurationMs): StepAction {
  const named = objects.flatMap(({ manifest: { kind, name, namespace } }) => {
    const resource = PLURALS[kind];
    return resource === undefined ? [] : [{ resource, name, namespace }];
  });
  const verb = random.pick(REFUSED_VERBS);
  const one = named.length > 0 && random.chance(0.7) ? random.pick(named) : { resource: 'nodes' };
  return { kind: 'refuse', refusal: { verb, ...one, as: { status: random.pick(STATUSES) } }, for: length };
}

const VARIATIONS: readonly (readonly [weight: number, variation: Variation])[] = [
  [4, otherChance],
  [4, moved],
  [3, together],
  [2, again],
  [1, dropped],
  [3, disturbed],
];

const NAME = /^\d+(?:\.\d+)*$/;

export const isTrialName = (text: string): boolean => NAME.test(text);

/** @param name of a trial: a seed, or a variation of one. Throws a RangeError for any other text */
export function trialNamed(name: string): Trial {
  if (!isTrialName(name)) throw new RangeError(`${name} is no seed and no variation of one`);
  const cut = name.lastIndexOf('.');
  if (cut < 0) return trialOf(Number(name));
  const random = createRandom(0).stream(`variation ${name}`);
  const trial = trialNamed(name.slice(0, cut));
  const varied = pickWeighted(random, VARIATIONS)(random, trial);
  // A step that moved may now be about what is not there: nobody would write such a file.
  return isValid(varied.scenario) ? varied : otherChance(random, trial);
}
