/** What came of stored items: what was destroyed, and what of Curfew's still stands on the objects. */
import type { JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { RunResult } from '../../simulator/run.ts';
import type { TraceEntry } from '../../simulator/trace.ts';

export interface Outcome {
  /** `delete nodeclaims n1`: how often. Calls that the other side accepted. */
  readonly destroyed: Readonly<Record<string, number>>;
  /** `Node n1`: cordon, finalizers, taints, and what stands in labels and annotations of Curfew and NVSentinel. */
  readonly left: Readonly<Record<string, readonly string[]>>;
}

const DESTRUCTIVE = ['delete', 'evict', 'terminate', 'reboot', 'invoke'];

/** @param since so many entries of the trace do not count */
export function outcomeOf({ trace, core }: Pick<RunResult, 'trace' | 'core'>, since = 0): Outcome {
  const destroyed = countOf(trace.slice(since));
  const kinds = ['nodes', 'nodeclaims'].flatMap(name => core.resources().filter(({ resource }) => resource === name));
  const objects = kinds.flatMap(type => core.list(type).items);
  const left = Object.fromEntries(objects.map(object => [`${object.kind} ${object.metadata.name}`, marksOf(object)]));
  return { destroyed, left };
}

/** The calls that ended something, and how often. */
export function countOf(trace: readonly TraceEntry[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const call of trace.flatMap(destructiveCall)) counts[call] = (counts[call] ?? 0) + 1;
  return counts;
}

/** The call of a trace line that ends something, in words. */
function destructiveCall({ kind, line }: TraceEntry): readonly string[] {
  const { verb, resource, namespace, name, about } = line;
  if (kind !== 'write' || !DESTRUCTIVE.includes(textOf(verb))) return [];
  const place = namespace === undefined ? '' : `${textOf(namespace)}/`;
  const object = typeof about === 'object' && about !== null && 'name' in about ? ` for ${textOf(about.name)}` : '';
  return [`${textOf(verb)} ${textOf(resource)} ${place}${textOf(name)}${object}`];
}

const OURS = /^(curfew\.dev|[a-z.]*nvidia\.com|karpenter\.sh\/(do-not-disrupt|nodeclaim-termination-timestamp))/;

function marksOf({ metadata, spec }: KubernetesObject): readonly string[] {
  const taints = Array.isArray(spec?.['taints']) ? spec['taints'] : [];
  return [
    ...(metadata.deletionTimestamp === undefined ? [] : ['being deleted']),
    ...(spec?.['unschedulable'] === true ? ['cordoned'] : []),
    ...(metadata.finalizers ?? []).map(name => `finalizer ${name}`),
    ...taints.map((taint: JsonValue) => `taint ${keyOf(taint)}`),
    ...keysOf(metadata.labels).map(key => `label ${key}`),
    ...keysOf(metadata.annotations).map(key => `annotation ${key}`),
  ];
}

const keysOf = (names: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.keys(names)
    .filter(key => OURS.test(key))
    .toSorted();

const keyOf = (taint: JsonValue | undefined): string =>
  typeof taint === 'object' && taint !== null && 'key' in taint ? textOf(taint.key) : '';

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
