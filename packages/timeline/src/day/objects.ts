/** What became of each object of the cluster, out of the `object` lines of a trace. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { withChange, type Json } from '../trace/merge-patch.ts';

export interface Version {
  readonly time: number;
  /** Index of the line. */
  readonly line: number;
  /** undefined: the object is gone. */
  readonly object: Json | undefined;
}

export interface ObjectHistory {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  /** In the order of time. */
  readonly versions: readonly Version[];
}

/** By `group/resource`, in the order of their first line. */
export type ObjectHistories = ReadonlyMap<string, readonly ObjectHistory[]>;

export function readObjects(lines: readonly TraceLine[]): ObjectHistories {
  const histories = new Map<string, ObjectHistory & { versions: Version[] }>();
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'object') continue;
    const key = `${line.group}/${line.resource}/${line.namespace ?? ''}/${line.name}`;
    const { group, version, resource, namespace, name } = line;
    const history = histories.get(key) ?? { group, version, resource, namespace, name, versions: [] };
    histories.set(key, history);
    history.versions.push({ time: Date.parse(line.t), line: index, object: nextOf(line, history.versions.at(-1)) });
  }
  return Map.groupBy(histories.values(), ({ group, resource }) => `${group}/${resource}`);
}

function nextOf({ object, change, gone }: LineOf<'object'>, last: Version | undefined): Json | undefined {
  if (gone === true) return undefined;
  return object ?? withChange(last?.object ?? {}, change ?? {});
}

/** As it was at an instant, with all that happened at that instant; undefined: it was not there. */
export function objectAt({ versions }: ObjectHistory, time: number): Json | undefined {
  let found: Json | undefined;
  for (const version of versions) {
    if (version.time > time) break;
    found = version.object;
  }
  return found;
}

const child = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

/** What stands at a path of keys; undefined when a part of it is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown => path.reduce(child, value);

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
};

export const timeAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const time = Date.parse(textAt(value, ...path) ?? '');
  return Number.isNaN(time) ? undefined : time;
};

export const textsAt = (value: unknown, ...path: readonly string[]): readonly string[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(each => typeof each === 'string') : [];
};

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly since: number | undefined;
}

export const conditionsOf = (object: Json | undefined): readonly Condition[] => {
  const conditions = at(object, 'status', 'conditions');
  if (!Array.isArray(conditions)) return [];
  return conditions.map((condition: unknown) => ({
    type: textAt(condition, 'type') ?? '',
    status: textAt(condition, 'status') ?? '',
    since: timeAt(condition, 'lastTransitionTime'),
  }));
};
