/** Evaluates a scenario's expectations against the trace and the end of a run. What fails says what came nearest. */
import { EVENT_REASONS } from '../shared/contract/reasons.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { InstanceState } from '../shared/ports/instances.ts';
import { describeExpectation } from './expectation-text.ts';
import { mismatch, nearness, valueAt } from './match.ts';
import type { Expectation, TargetRef, TracePattern, Window } from './scenario/scenario.ts';
import type { TraceEntry } from './trace.ts';

/** What is there when the run ends. */
export interface FinalState {
  object(target: TargetRef): KubernetesObject | undefined;
  instance(providerID: string): InstanceState | undefined;
}

export interface Verdict {
  readonly expectation: Expectation;
  readonly holds: boolean;
  /** The expectation in words. */
  readonly title: string;
  /** For one that does not hold: what was seen instead, a line each. */
  readonly seen: readonly string[];
}

/** How many lines of the trace a failure shows. */
const SHOWN_LINES = 3;

export function evaluate(
  expectations: readonly Expectation[],
  entries: readonly TraceEntry[],
  final: FinalState,
): readonly Verdict[] {
  return expectations.map(expectation => {
    const seen = complaints(expectation, entries, final);
    return { expectation, holds: seen === undefined, title: describeExpectation(expectation), seen: seen ?? [] };
  });
}

/** Kinds of objects by which people tell Curfew what to do. */
const SETTINGS: readonly unknown[] = ['ConfigMap', 'NodePool', 'NodeLifecyclePolicy', 'FinalizerRule'];
const REFUSALS: readonly unknown[] = ['refuse', 'refused'];
/** Warnings about settings that are in force anyway. */
export const WARNINGS: readonly unknown[] = [EVENT_REASONS.unknownConditionType, EVENT_REASONS.policyConflict];

/** What Curfew said against a configuration or policy. */
export interface Complaints {
  /** Scenarios whose settings are not in force show nothing. */
  readonly refusals: readonly TraceEntry[];
  readonly warnings: readonly TraceEntry[];
}

/** What Curfew says against settings that no expectation on an event or an audit line asks for, each said once. */
export function unexpectedComplaints(expectations: readonly Expectation[], entries: readonly TraceEntry[]): Complaints {
  const wanted = expectations.flatMap(each =>
    each.kind === 'trace' && each.pattern.kind !== 'write' && each.times.max > 0 ? [each.pattern] : [],
  );
  const matched = entries.filter(entry => isMatched(wanted, entry));
  const keyOf = ({ line }: TraceEntry): string => JSON.stringify([line['reason'], aboutKey(line)]);
  const told = new Set(matched.map(keyOf));
  const unexpected = new Map<string, TraceEntry>();
  for (const entry of entries) {
    const { line, kind } = entry;
    if (kind !== 'audit' || !REFUSALS.includes(line['decision'])) continue;
    if (!SETTINGS.includes(valueAt(line, 'about.kind')) || told.has(keyOf(entry))) continue;
    unexpected.set(`${keyOf(entry)} ${JSON.stringify(line['message'])}`, entry);
  }
  const all = [...unexpected.values()];
  const isWarning = ({ line }: TraceEntry): boolean => WARNINGS.includes(line['reason']);
  return { refusals: all.filter(entry => !isWarning(entry)), warnings: all.filter(isWarning) };
}

const aboutKey = (line: JsonObject): readonly (JsonValue | undefined)[] => [
  valueAt(line, 'about.kind'),
  valueAt(line, 'about.namespace'),
  valueAt(line, 'about.name'),
];

const isMatched = (patterns: readonly TracePattern[], entry: TraceEntry): boolean =>
  patterns.some(pattern => pattern.kind === entry.kind && contains(pattern, entry));

/** undefined: it holds. */
function complaints(
  expectation: Expectation,
  entries: readonly TraceEntry[],
  final: FinalState,
): readonly string[] | undefined {
  switch (expectation.kind) {
    case 'trace':
      return complainAboutTrace(expectation, entries);
    case 'finalInstance': {
      const state = final.instance(expectation.providerID);
      if (state === expectation.state) return undefined;
      return [state === undefined ? 'there is no such instance' : `the instance is ${state}`];
    }
    case 'finalObject': {
      const object = final.object(expectation.target);
      if (!expectation.exists) return object === undefined ? undefined : [`it exists, ${summaryOf(object)}`];
      if (object === undefined) return ['it does not exist'];
      return complainAboutObject(toJson(object), expectation.match, expectation.absent);
    }
  }
}

function complainAboutObject(
  object: JsonValue,
  match: JsonValue | undefined,
  absent: readonly string[],
): readonly string[] | undefined {
  const difference = match === undefined ? undefined : mismatch(match, object);
  const seen = difference === undefined ? [] : [differs(difference)];
  for (const path of absent) {
    const value = valueAt(object, path);
    if (value !== undefined) seen.push(`${path} exists: ${JSON.stringify(value)}`);
  }
  return seen.length === 0 ? undefined : seen;
}

const differs = ({
  path,
  expected,
  actual,
}: {
  path: string;
  expected: JsonValue;
  actual: JsonValue | undefined;
}): string => `${path} is ${actual === undefined ? 'absent' : JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;

type TraceExpectation = Extract<Expectation, { kind: 'trace' }>;

function complainAboutTrace(
  { pattern, window, times }: TraceExpectation,
  entries: readonly TraceEntry[],
): readonly string[] | undefined {
  const matching = entries.filter(entry => entry.kind === pattern.kind && contains(pattern, entry));
  const inside = matching.filter(({ time }) => isInside(window, time));
  if (inside.length >= times.min && inside.length <= times.max) return undefined;
  if (inside.length > times.max) {
    return [`found ${inside.length}:`, ...shown(inside)];
  }
  const found = inside.length === 0 ? 'found none' : `found ${inside.length}`;
  const outside = matching.filter(({ time }) => !isInside(window, time));
  if (outside.length > 0) return [`${found}; outside of that time there are ${outside.length}:`, ...shown(outside)];
  return [found, ...nearest(pattern, entries)];
}

function contains(pattern: TracePattern, { line, group }: TraceEntry): boolean {
  return (
    mismatch(fieldsFor(pattern, group), line) === undefined &&
    pattern.absent.every(path => valueAt(line, path) === undefined)
  );
}

/** A pattern's `nodeclaims.karpenter.sh` is the line's `nodeclaims` when its group is that one. */
function fieldsFor({ fields }: TracePattern, group: string): JsonObject {
  const { resource } = fields;
  if (typeof resource !== 'string' || group === '' || !resource.endsWith(`.${group}`)) return fields;
  return { ...fields, resource: resource.slice(0, -group.length - 1) };
}

const isInside = ({ from, to }: Window, time: EpochMs): boolean =>
  (from === undefined || time >= from) && (to === undefined || time <= to);

/** The line that has most of what was asked for, and its first difference. */
function nearest(pattern: TracePattern, entries: readonly TraceEntry[]): readonly string[] {
  let best: { entry: TraceEntry; score: number } | undefined;
  for (const entry of entries) {
    if (entry.kind !== pattern.kind) continue;
    const score = nearness(fieldsFor(pattern, entry.group), entry.line);
    if (score > (best?.score ?? 0)) best = { entry, score };
  }
  if (best === undefined) return [`the trace has no ${pattern.kind} like it`];
  const difference = mismatch(fieldsFor(pattern, best.entry.group), best.entry.line);
  const present = pattern.absent.find(path => valueAt(best.entry.line, path) !== undefined);
  const why = difference === undefined ? `${present ?? 'something'} exists` : differs(difference);
  return ['nearest:', `${formatEntry(best.entry)}  (${why})`];
}

function shown(entries: readonly TraceEntry[]): readonly string[] {
  const lines = entries.slice(0, SHOWN_LINES).map(formatEntry);
  return entries.length > SHOWN_LINES ? [...lines, `and ${entries.length - SHOWN_LINES} more`] : lines;
}

/** A trace line in short, for people. */
export function formatEntry({ line }: TraceEntry): string {
  return JSON.stringify(line);
}

const summaryOf = ({ metadata }: KubernetesObject): string => {
  const { uid, deletionTimestamp, finalizers = [] } = metadata;
  const deleting = deletionTimestamp === undefined ? '' : `, being deleted since ${deletionTimestamp}`;
  return `uid ${uid}${deleting}${finalizers.length > 0 ? `, finalizers ${finalizers.join(', ')}` : ''}`;
};

const toJson = (object: KubernetesObject): JsonValue => JSON.parse(JSON.stringify(object));
