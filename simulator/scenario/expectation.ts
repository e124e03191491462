/** From the file's form of an expectation to what is evaluated. */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { Expectation, Place, Times, TracePattern, Window } from './scenario.ts';
import type { ScenarioDocument } from './schema.ts';
import type { Moment } from './values.ts';

type ExpectationDocument = NonNullable<ScenarioDocument['spec']['expect']>[number];

/** How long after `at` a line may come, unless the file says otherwise. */
const DEFAULT_WITHIN = seconds(1);

/** @param instantOf the instant of a moment of the file */
export function toExpectation(
  document: ExpectationDocument,
  instantOf: (moment: Moment) => EpochMs,
  place: Place,
): Expectation {
  const { final } = document;
  if (final?.kind === 'instance') {
    return { kind: 'finalInstance', providerID: final.instance, state: final.state, place };
  }
  if (final !== undefined) {
    const { target, exists, match, absent } = final;
    return { kind: 'finalObject', target, exists, match, absent, place };
  }
  const window = windowOf(document, instantOf);
  return { kind: 'trace', pattern: patternOf(document), window, times: timesOf(document.times), place };
}

function windowOf({ at, within, after, before }: ExpectationDocument, instantOf: (moment: Moment) => EpochMs): Window {
  if (at !== undefined) {
    const from = instantOf(at);
    return { from, to: addDuration(from, within ?? DEFAULT_WITHIN) };
  }
  const end = before === undefined ? undefined : instantOf(before);
  return {
    from: after === undefined ? undefined : instantOf(after),
    // Instants are whole milliseconds: the last one before `before`.
    to: end === undefined ? undefined : addDuration(end, toDurationMs(-1)),
  };
}

/** No line can be in it. */
export const isEmptyWindow = ({ from, to }: Window): boolean => from !== undefined && to !== undefined && to < from;

function timesOf(times: ExpectationDocument['times']): Times {
  if (times === undefined) return { min: 1, max: Infinity };
  if (typeof times === 'number') return { min: times, max: times };
  return { min: times.min ?? 0, max: times.max ?? Infinity };
}

function patternOf({ write, event, audit }: ExpectationDocument): TracePattern {
  if (write !== undefined) {
    const { absent = [], ...fields } = write;
    return { kind: 'write', fields: defined(fields), absent };
  }
  if (event !== undefined)
    return { kind: 'event', fields: aboutOf(event, ['kind', 'namespace', 'name', 'uid']), absent: [] };
  // The line's own `kind` says that it is an audit record.
  return { kind: 'audit', fields: aboutOf(audit ?? {}, ['kind']), absent: [] };
}

/** The fields with some of them moved to `about`, the object that the line is about. */
function aboutOf(fields: Readonly<Record<string, JsonValue | undefined>>, keys: readonly string[]): JsonObject {
  const rest = Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
  const moved = Object.fromEntries(Object.entries(fields).filter(([key]) => keys.includes(key)));
  const about = { ...(isJsonObject(fields['about']) ? fields['about'] : {}), ...defined(moved) };
  return defined({ ...rest, about: Object.keys(about).length === 0 ? undefined : about });
}

function defined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
