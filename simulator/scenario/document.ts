/** From the file's form of a scenario to what is run. */
import { addDuration, hours, seconds, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { isEmptyWindow, toExpectation } from './expectation.ts';
import type { Beginning } from './objects.ts';
import type { Path } from './places.ts';
import { ACTORS, type Place, type Scenario, type ScenarioFault, type Step, type StepAction } from './scenario.ts';
import type { ScenarioDocument } from './schema.ts';
import type { Moment } from './values.ts';

/** Functions are woken every minute, so a run takes time in proportion to it. */
const MAX_DURATION = hours(24 * 365);

/** Adds to `faults` what is wrong with times; names are looked at by `complaints.ts`. */
export function toScenario(
  { metadata, spec }: ScenarioDocument,
  { objects, config, templates }: Beginning,
  { file, locate }: { readonly file: string; readonly locate: (path: Path) => Place },
  faults: ScenarioFault[],
): Scenario {
  const { start } = spec;
  const end = addDuration(start, spec.duration);
  if (spec.duration < seconds(1)) {
    faults.push({ place: locate(['spec', 'duration']), message: 'must be at least 1s' });
  }
  if (spec.duration > MAX_DURATION) {
    faults.push({
      place: locate(['spec', 'duration']),
      message: 'must be at most 8760h, a year: a day takes about a second',
    });
  }
  const instantOf = (moment: Moment): EpochMs =>
    moment.kind === 'instant' ? moment.instant : addDuration(start, moment.duration);

  const steps = (spec.steps ?? []).map((step, index): Step => {
    const path = ['spec', 'steps', index];
    const time = instantOf(step.at);
    const span = `${toIsoText(start)} to ${toIsoText(end)}`;
    if (time < start || time > end) {
      faults.push({ place: locate([...path, 'at']), message: `is outside of the run, ${span}` });
    }
    return { time, action: toAction(step), place: locate(path) };
  });

  const expectations = (spec.expect ?? []).map((document, index) => {
    const path = ['spec', 'expect', index];
    const expectation = toExpectation(document, instantOf, locate(path));
    if (expectation.kind === 'trace' && isEmptyWindow(expectation.window)) {
      faults.push({ place: locate([...path, 'before']), message: 'must be later than `after`: nothing is in between' });
    }
    return expectation;
  });

  return {
    name: metadata.name,
    annotations: metadata.annotations ?? {},
    file,
    start,
    end,
    ...(spec.callDuration !== undefined && { callDuration: spec.callDuration }),
    config,
    templates,
    actors: new Set(spec.actors ?? ACTORS),
    objects: objects.map(({ manifest, locate: place }) => ({ manifest, place: place([]) })),
    // The sort is stable: equal times stay in the order of the file.
    steps: steps.toSorted((a, b) => a.time - b.time),
    expectations,
    doubts: [],
  };
}

type StepDocument = NonNullable<ScenarioDocument['spec']['steps']>[number];

function toAction(step: StepDocument): StepAction {
  const { apply, patch, delete: deletion, busEvent, cloud, condition, launch, cleanup, hook, refuse, outage } = step;
  const { delay, redrive, rollback, restore } = step;
  if (apply !== undefined) return { kind: 'apply', manifest: apply };
  if (patch !== undefined) {
    const { merge, ...target } = patch;
    return { kind: 'patch', target, merge };
  }
  if (deletion !== undefined) {
    const { gracePeriodSeconds, ...target } = deletion;
    return { kind: 'delete', target, gracePeriodSeconds };
  }
  if (condition !== undefined) {
    const { node, ...stated } = condition;
    return { kind: 'condition', node, condition: stated };
  }
  if (launch !== undefined) return { kind: 'launch', ...launch };
  if (busEvent !== undefined) {
    return { kind: 'busEvent', source: busEvent.source, detailType: busEvent['detail-type'], detail: busEvent.detail };
  }
  if (cloud !== undefined) return { kind: 'cloud', ...cloud };
  if (cleanup !== undefined) return { kind: 'cleanup', ...cleanup };
  if (hook !== undefined) return { kind: 'hook', ...hook };
  if (refuse !== undefined) {
    const { status, notServed: _, for: duration, ...requests } = refuse;
    const as = status === undefined ? { notServed: true as const } : { status };
    return { kind: 'refuse', refusal: { ...requests, as }, for: duration };
  }
  if (outage !== undefined) return { kind: 'outage', of: outage.of, for: outage.for };
  if (delay !== undefined) return { kind: 'delay', function: delay.function, for: delay.for, by: delay.by };
  if (redrive !== undefined) return { kind: 'redrive', function: redrive };
  if (rollback !== undefined) return { kind: 'rollback', for: rollback.for };
  if (restore?.of === 'cluster' && restore.age !== undefined)
    return { kind: 'restore', of: 'cluster', age: restore.age };
  if (restore !== undefined) return { kind: 'restore', of: 'table', age: restore.age };
  return { kind: 'restart', part: 'forwarder' };
}
