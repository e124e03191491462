/** Scenarios are written for virtual time; here they are moved to now, and their timers end with them. */
import { createRealScheduler } from '../../../runtime/real-scheduler.ts';
import type { Cancel, Scheduler } from '../../../runtime/scheduler.ts';
import type { Expectation, Manifest, Scenario, StepAction, Window } from '../../../simulator/scenario/scenario.ts';
import type { JsonObject, JsonValue } from '../../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  durationBetween,
  parseTimestamp,
  seconds,
  toExactTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';

/** How much later than in virtual time something may happen: requests take time, and a busy machine takes more. */
export const TOLERANCE = seconds(4);

/** The scenario as if it had been written for `start`, a whole second: every instant in it is moved by as much. */
export function moveTo(scenario: Scenario, start: EpochMs): Scenario {
  const by = durationBetween(scenario.start, start);
  const move = (time: EpochMs): EpochMs => addDuration(time, by);
  const object = (value: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, field === undefined ? undefined : moved(field, by)]),
    );
  const manifest = (each: Manifest): Manifest => ({ ...each, body: object(each.body) });
  const action = (each: StepAction): StepAction => {
    switch (each.kind) {
      case 'apply':
        return { ...each, manifest: manifest(each.manifest) };
      case 'patch':
        return { ...each, merge: object(each.merge) };
      case 'busEvent':
        return { ...each, detail: object(each.detail) };
      case 'delete':
      case 'condition':
      case 'launch':
      case 'cloud':
      case 'cleanup':
      case 'hook':
      case 'refuse':
      case 'outage':
      case 'restart':
      case 'delay':
      case 'redrive':
      case 'rollback':
      case 'restore':
        return each;
    }
  };
  const expectation = (each: Expectation): Expectation => {
    switch (each.kind) {
      case 'trace': {
        const isForbidden = each.times.max === 0;
        const pattern = { ...each.pattern, fields: object(each.pattern.fields) };
        return { ...each, pattern, window: windowFrom(each.window, by, isForbidden) };
      }
      case 'finalObject':
        return each.match === undefined ? each : { ...each, match: moved(each.match, by) };
      case 'finalInstance':
        return each;
    }
  };
  return {
    ...scenario,
    start,
    end: move(scenario.end),
    objects: scenario.objects.map(each => ({ ...each, manifest: manifest(each.manifest) })),
    steps: scenario.steps.map(each => ({ ...each, time: move(each.time), action: action(each.action) })),
    expectations: scenario.expectations.map(expectation),
  };
}

function moved(value: JsonValue, by: DurationMs): JsonValue {
  if (typeof value === 'string') {
    const instant = parseTimestamp(value);
    return instant === undefined ? value : toExactTimestamp(addDuration(instant, by));
  }
  if (isList(value)) return value.map(each => moved(each, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, field === undefined ? undefined : moved(field, by)]),
  );
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** Never earlier; later by the tolerance, but what must not happen in a time must not happen in that very time. */
function windowFrom({ from, to }: Window, by: DurationMs, isForbidden: boolean): Window {
  return {
    from: from === undefined ? undefined : addDuration(from, by),
    to:
      to === undefined
        ? undefined
        : addDuration(addDuration(to, by), isForbidden || from === undefined ? seconds(0) : TOLERANCE),
  };
}

/** Real time with an end: after it nothing that waits ever happens. */
export function createEndingScheduler(): Scheduler & { end(): void } {
  const real = createRealScheduler();
  const pending = new Set<Cancel>();
  let ended = false;
  return {
    now: () => real.now(),
    sleep: (duration, signal) => real.sleep(duration, signal),
    at(time, action) {
      if (ended) return () => undefined;
      const cancel = real.at(time, () => {
        pending.delete(cancel);
        action();
      });
      pending.add(cancel);
      return () => {
        pending.delete(cancel);
        cancel();
      };
    },
    end() {
      ended = true;
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}
