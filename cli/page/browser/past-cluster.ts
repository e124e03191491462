/** `KubernetesApi`, for reading, on a cluster as it was at an instant: out of the `object` lines of a trace. */
import { objectAt, type ObjectHistories } from '../../../packages/timeline/src/day/objects.ts';
import type { Json } from '../../../packages/timeline/src/trace/merge-patch.ts';
import { parseLabelSelector, selectsLabels } from '../../../shared/domain/label-selector-text.ts';
import type { KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi, ListQuery } from '../../../shared/ports/kubernetes-api.ts';

/** @param time milliseconds since 1970; all that happened at that instant counts */
export function pastCluster(histories: ObjectHistories, time: number): KubernetesApi {
  const lists = new Map<string, readonly KubernetesObject[]>();
  const all = ({ group, resource }: ResourceType): readonly KubernetesObject[] => {
    const key = `${group}/${resource}`;
    const known = lists.get(key);
    if (known !== undefined) return known;
    const found = (histories.get(key) ?? [])
      .map(history => objectAt(history, time))
      .filter(object => object !== undefined)
      .map(asObject)
      .toSorted((a, b) => compare(nameOf(a), nameOf(b)));
    lists.set(key, found);
    return found;
  };
  /** The kinds of custom resources that nothing defines at the time; of the others, the server has them all. */
  const isServed = ({ group, resource }: ResourceType): boolean =>
    !group.includes('.') ||
    group.endsWith('.k8s.io') ||
    all(DEFINITIONS).some(({ metadata }) => metadata.name === `${resource}.${group}`);
  const notWritable = (): never => {
    throw new Error('the past cannot be changed');
  };
  return {
    async get({ type, namespace, name }) {
      if (!isServed(type)) return { kind: 'notServed', type };
      const object = all(type).find(
        ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === (namespace ?? ''),
      );
      return object === undefined ? { kind: 'notThere' } : { kind: 'there', object };
    },
    async list(type, query = {}, { project } = {}) {
      if (!isServed(type)) return { kind: 'notServed', type };
      const objects = all(type).filter(object => matches(object, query));
      return { kind: 'there', objects: project === undefined ? objects : objects.map(project) };
    },
    async resolve({ group, version, kind }) {
      const definition = all(DEFINITIONS).find(
        each => textIn(each, 'spec', 'group') === group && textIn(each, 'spec', 'names', 'kind') === kind,
      );
      const resource = textIn(definition, 'spec', 'names', 'plural');
      return resource === undefined ? undefined : { group, version, resource };
    },
    async versionsOf(what) {
      const definition = all(DEFINITIONS).find(
        each =>
          textIn(each, 'spec', 'group') === what.group &&
          ('kind' in what
            ? textIn(each, 'spec', 'names', 'kind') === what.kind
            : textIn(each, 'spec', 'names', 'plural') === what.resource),
      );
      return servedVersions(definition);
    },
    create: notWritable,
    patch: notWritable,
    delete: notWritable,
    evict: notWritable,
  };
}

const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** Objects of a trace are as the API server stored them. */
function asObject(object: Json): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isMetadata(metadata))
    throw new TypeError('an object of the trace has no metadata');
  return { ...object, apiVersion, kind, metadata: { resourceVersion: '', creationTimestamp: '', ...metadata } };
}

const isMetadata = (value: unknown): value is { readonly name: string; readonly uid: string } =>
  typeof value === 'object' && value !== null && 'name' in value && 'uid' in value;

const nameOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function matches(object: KubernetesObject, { namespace, labelSelector, fieldSelector }: ListQuery): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (labelSelector !== undefined && !hasLabels(object, labelSelector)) return false;
  return fieldSelector === undefined || fieldSelector.split(',').every(part => hasField(object, part));
}

function hasLabels({ metadata }: KubernetesObject, text: string): boolean {
  const parsed = parseLabelSelector(text);
  return parsed.ok && selectsLabels(parsed.requirements, metadata.labels ?? {});
}

/** `spec.nodeName=n1`, `status.phase!=Failed`. */
function hasField(object: KubernetesObject, part: string): boolean {
  const [, path = '', operator = '=', wanted = ''] = /^([\w.]+)(!=|==|=)(.*)$/.exec(part) ?? [];
  const value = textIn(object, ...path.split('.')) ?? '';
  return operator === '!=' ? value !== wanted : value === wanted;
}

function textIn(value: unknown, ...path: readonly string[]): string | undefined {
  const found = path.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined),
    value,
  );
  return typeof found === 'string' ? found : undefined;
}

function servedVersions(definition: KubernetesObject | undefined): readonly string[] {
  const versions: unknown = definition?.spec?.['versions'];
  if (!Array.isArray(versions)) return [];
  return versions
    .filter(
      (version: unknown) => typeof version === 'object' && version !== null && Reflect.get(version, 'served') !== false,
    )
    .map((version: unknown) => textIn(version, 'name') ?? '');
}
