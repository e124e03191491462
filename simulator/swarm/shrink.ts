/**
 * Makes a failing trial small: as long as the same invariant breaks, whatever is not needed for that goes. What is left is a file that
 * `curfew validate` accepts, as what is drawn is.
 */
import { objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, seconds, toDurationMs, toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import type { Scenario, Step } from '../scenario/scenario.ts';
import { kindsOf, NO_FAULTS } from './faults.ts';
import { GENERATED, place, toManifest } from './generate/model.ts';
import type { Failure, Trial } from './seed.ts';
import { simplify } from './simplify.ts';
import { isValid } from './valid.ts';

/** Answers how a trial fails; undefined when all is well. */
export type Try = (trial: Trial) => Promise<Failure | undefined>;

export interface Shrunk {
  readonly trial: Trial;
  readonly failure: Failure;
  /** Trials that it took. */
  readonly runs: number;
}

/** Other orders of chance that are tried where the seed's own does not fail any more: removing a step moves all later draws. */
const OTHER_SEEDS: readonly number[] = [1, 2];
const MAX_ROUNDS = 4;

/** @param maxRuns no more trials than about this; what is smallest by then is the answer */
export async function shrink(trial: Trial, failure: Failure, tryTrial: Try, maxRuns: number): Promise<Shrunk> {
  let best = trial;
  let found = failure;
  let runs = 0;

  const accept = async (candidate: Trial): Promise<boolean> => {
    const seeds = candidate.faults.mix === 'none' ? [best.seed] : [...new Set([best.seed, ...OTHER_SEEDS])];
    for (const seed of seeds) {
      if (runs >= maxRuns) return false;
      runs += 1;
      const next = await tryTrial({ ...candidate, seed });
      if (next?.invariant !== failure.invariant) continue;
      if (candidate.scenario !== best.scenario && !isValid(candidate.scenario)) return false;
      best = { ...candidate, seed };
      found = next;
      return true;
    }
    return false;
  };
  const withScenario = (change: Partial<Scenario>): Trial => ({ ...best, scenario: { ...best.scenario, ...change } });

  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = sizeOf(best);
    await shorten(
      () => found.time,
      best,
      end => accept(withScenario({ end, steps: stepsUntil(best.scenario.steps, end) })),
    );
    if (best.faults.mix !== 'none') {
      if (!(await accept({ ...best, faults: NO_FAULTS }))) {
        if (best.faults.clocksAhead) await accept({ ...best, faults: { ...best.faults, clocksAhead: false } });
        await reduce(best.faults.more, more => accept({ ...best, faults: { ...best.faults, more } }));
        const { faults } = best;
        const kinds = kindsOf(faults.mix);
        const injected = kinds.filter(kind => !faults.without.includes(kind));
        await reduce(injected, kept =>
          accept({ ...best, faults: { ...faults, without: kinds.filter(kind => !kept.includes(kind)) } }),
        );
      }
    }
    if (best.scenario.callDuration !== undefined) await accept(withScenario({ callDuration: undefined }));
    await reduce(best.scenario.steps, steps => accept(withScenario({ steps })));
    await reduce(best.scenario.objects, objects => accept(withScenario({ objects })));
    await reduce([...best.scenario.actors], actors => accept(withScenario({ actors: new Set(actors) })));
    await simplifyAll(
      () => best.scenario,
      change => accept(withScenario(change)),
    );
    if (sizeOf(best) === before) break;
  }
  return { trial: best, failure: found, runs };
}

/** Delta debugging: leaves out ever smaller parts of the list as long as the rest is accepted. */
export async function reduce<T>(
  items: readonly T[],
  accept: (kept: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = items;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length;) {
      const rest = [...kept.slice(0, start), ...kept.slice(start + size)];
      if (await accept(rest)) kept = rest;
      else start += size;
    }
  }
  return kept;
}

const stepsUntil = (steps: readonly Step[], end: EpochMs): readonly Step[] => steps.filter(({ time }) => time <= end);

/** Ends the run soon after the failure. */
async function shorten(
  failureTime: () => EpochMs,
  { scenario }: Trial,
  accept: (end: EpochMs) => Promise<boolean>,
): Promise<void> {
  for (const margin of [seconds(1), minutes(10), minutes(40)]) {
    const end = wholeMinute(addDuration(failureTime(), margin));
    if (end < scenario.end && (await accept(end))) return;
  }
  // Faults end with the scenario, so one that fails afterwards is made shorter from the end.
  for (const share of [0.25, 0.5, 0.75]) {
    const end = wholeMinute(toEpochMs(scenario.start + (scenario.end - scenario.start) * share));
    if (await accept(end)) return;
  }
}

const wholeMinute = (time: EpochMs): EpochMs => addDuration(time, toDurationMs(minutes(1) - (time % minutes(1))));

/** Leaves out fields of the objects, and of what steps apply, one by one. */
async function simplifyAll(
  scenario: () => Scenario,
  accept: (change: Partial<Scenario>) => Promise<boolean>,
): Promise<void> {
  for (let index = 0; index < scenario().objects.length; index++) {
    const body = scenario().objects[index]?.manifest.body;
    if (body === undefined) continue;
    await simplify(body, simpler => accept({ objects: scenario().objects.with(index, place(sameManifest(simpler))) }));
  }
  for (let index = 0; index < scenario().steps.length; index++) {
    const step = scenario().steps[index];
    if (step?.action.kind !== 'apply') continue;
    const { time } = step;
    await simplify(step.action.manifest.body, simpler => {
      const action = { kind: 'apply', manifest: sameManifest(simpler) } as const;
      return accept({ steps: scenario().steps.with(index, { time, action, place: GENERATED }) });
    });
  }
}

function sameManifest(body: JsonObject): ReturnType<typeof toManifest> {
  const metadata = objectAt(body, 'metadata');
  return toManifest(body, textAt(metadata, 'name') ?? '', textAt(metadata, 'namespace'));
}

function sizeOf({ scenario, faults }: Trial): string {
  const { objects, steps, actors, start, end, callDuration } = scenario;
  return JSON.stringify([objects, steps, [...actors], end - start, callDuration, faults]);
}
