/**
 * What a scenario says of objects that never were, and of lines that cannot be: such a step does nothing, and such an expectation cannot
 * fail. It may be meant, so it is a note, with the nearest object that was there, and no failure.
 */
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { nearestName } from '../shared/domain/nearest-name.ts';
import { toIsoText } from '../shared/domain/time.ts';
import { valueAt } from './match.ts';
import {
  resourceOfManifest,
  resourcesNamed,
  resourcesOf,
  type KnownResource,
  type ResourceCatalog,
} from './scenario/resource-names.ts';
import type { Expectation, Place, Scenario, ScenarioFault, TargetRef } from './scenario/scenario.ts';
import { textOf, type TraceEntry } from './trace.ts';

/** An object that was there at some time of the run. */
interface Seen {
  readonly resource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Notes on steps and expectations about objects that never were, and on expectations that cannot fail. */
export function notesOf(
  scenario: Scenario,
  trace: readonly TraceEntry[],
  catalog: ResourceCatalog,
): readonly ScenarioFault[] {
  const known = resourcesOf(scenario, catalog);
  const there = objectsThere(scenario, trace, known);
  const keys = new Set(there.map(keyOf));
  const neverThere = (target: TargetRef): string | undefined => {
    const [found] = resourcesNamed(target.resource, known);
    if (found === undefined) return undefined;
    const { resource, namespaced } = found;
    const wanted = { resource, namespace: namespaced ? (target.namespace ?? 'default') : '', name: target.name };
    if (keys.has(keyOf(wanted))) return undefined;
    return `${nameOf(target)} never existed${suggestObject(
      wanted,
      there.filter(each => each.resource === resource),
    )}`;
  };
  const toNote = (place: Place, message: string | undefined): readonly ScenarioFault[] =>
    message === undefined ? [] : [{ place, message }];
  return [
    ...scenario.steps.flatMap(({ action, place }) =>
      action.kind === 'patch' || action.kind === 'delete' ? toNote(place, neverThere(action.target)) : [],
    ),
    ...scenario.expectations.flatMap(expectation => toNote(expectation.place, futility(expectation, scenario))),
    ...scenario.expectations.flatMap(expectation => {
      if (expectation.kind === 'finalInstance') return [];
      const message = expectation.kind === 'trace' ? neverNamed(expectation, there) : neverThere(expectation.target);
      // That Curfew makes no such object may be what is expected: a note needs another that is like it.
      return message?.endsWith('?') === true ? toNote(expectation.place, message) : [];
    }),
  ];
}

/** Words about an expectation that no line can break; undefined: it can fail. */
function futility(expectation: Expectation, { start, end }: Pick<Scenario, 'start' | 'end'>): string | undefined {
  if (expectation.kind !== 'trace') return undefined;
  const { pattern, window, times } = expectation;
  // That an Event or audit line may come also says that a refusal is expected.
  if (times.min > 0 || (times.max > 0 && pattern.kind !== 'write')) return undefined;
  if (times.max === Infinity) return 'can never fail: give a `max`, or a `min` above 0';
  const { from = start, to = end } = window;
  if (from <= end && to >= start) return undefined;
  return `its window is outside of the run, ${toIsoText(start)} to ${toIsoText(end)}: it can never fail`;
}

/** Everything that was there at some time: what the file brings, what Curfew made, and what other controllers made. */
function objectsThere(
  scenario: Scenario,
  trace: readonly TraceEntry[],
  known: readonly KnownResource[],
): readonly Seen[] {
  const applied = scenario.steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const ofFile = [...scenario.objects.map(({ manifest }) => manifest), ...applied].flatMap((manifest): Seen[] => {
    const found = resourceOfManifest(manifest, known);
    if (found === undefined) return [];
    const namespace = found.namespaced ? (manifest.namespace ?? 'default') : '';
    return [{ resource: found.resource, kind: found.kind, namespace, name: manifest.name }];
  });
  const made = trace.flatMap(({ kind, line }): Seen[] => {
    const { verb, resource, name, namespace } = line;
    const isMade = (kind === 'write' || kind === 'actor') && verb === 'create';
    if (!isMade || typeof resource !== 'string' || typeof name !== 'string') return [];
    const [found] = resourcesNamed(resource, known);
    return [{ resource, kind: found?.kind ?? '', namespace: textOf(namespace), name }];
  });
  const settings = {
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespace: CONFIG_MAP.namespace,
    name: CONFIG_MAP.name,
  };
  return [...ofFile, ...made, settings];
}

/** The object that an expectation of no line names. */
function neverNamed(
  { pattern, times }: Extract<Expectation, { kind: 'trace' }>,
  there: readonly Seen[],
): string | undefined {
  if (times.max > 0) return undefined;
  const { fields } = pattern;
  const resource = textOf(fields['resource']).split('.', 1)[0] ?? '';
  const kind = textOf(valueAt(fields, 'about.kind'));
  const name = textOf(fields['name']) || textOf(valueAt(fields, 'about.name'));
  const namespace = textOf(fields['namespace']) || textOf(valueAt(fields, 'about.namespace'));
  const sameSort = there.filter(
    each => (resource === '' || each.resource === resource) && (kind === '' || each.kind === kind),
  );
  const isThere = sameSort.some(each => each.name === name && (namespace === '' || each.namespace === namespace));
  if (name === '' || isThere) return undefined;
  return `${namespace === '' ? '' : `${namespace}/`}${name} never existed${suggestObject({ namespace, name }, sameSort)}`;
}

/** The same name in another namespace, or the nearest one. */
function suggestObject({ name }: Pick<Seen, 'namespace' | 'name'>, sameSort: readonly Seen[]): string {
  const names = new Set(sameSort.map(each => each.name));
  const nearest = names.has(name) ? name : nearestName(name, [...names]);
  const object = sameSort.find(each => each.name === nearest);
  return object === undefined
    ? ''
    : `, did you mean ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}?`;
}

const keyOf = ({ resource, namespace, name }: Omit<Seen, 'kind'>): string => `${resource} ${namespace} ${name}`;
const nameOf = ({ resource, namespace, name }: TargetRef): string =>
  `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
