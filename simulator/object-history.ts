/**
 * What becomes of each object of the cluster, whoever changes it, for the trace: whole when it appears, afterwards what changed. Contents of
 * Secrets are left out, and so is what says nothing about a node: leases, and the schemas of custom resources.
 */
import { changeOf } from '../packages/timeline/src/trace/merge-patch.ts';
import { stringify } from 'yaml';
import { CONFIG_MAP } from '../shared/contract/names.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { ApiServerCore } from '../packages/kube-apiserver/src/types.ts';
import { followKind } from './followed-kind.ts';
import type { Scenario } from './scenario/scenario.ts';
import type { Trace } from './trace.ts';

const LEFT_OUT: ReadonlySet<string> = new Set(['secrets', 'leases']);
const POLICY_KINDS: ReadonlySet<string> = new Set(['NodeLifecyclePolicy', 'NodePool', 'FinalizerRule']);

/** Follows all objects that are there and all that come, those of resources that are defined later too. */
export function recordObjects(
  core: Pick<ApiServerCore, 'resources' | 'list' | 'watch'>,
  trace: Pick<Trace, 'addObject' | 'addPolicy'>,
  scenario: Pick<Scenario, 'objects'>,
): void {
  const followed = new Set<string>();
  const known = new Map<string, JsonObject>();

  const followAll = (): void => {
    for (const { group, version, resource, verbs } of core.resources()) {
      const key = `${group}/${resource}`;
      if (followed.has(key) || LEFT_OUT.has(resource) || !verbs.includes('watch')) continue;
      followed.add(key);
      follow({ group, version, resource });
    }
  };
  const follow = (type: ResourceType): void => {
    followKind(core, type, ({ type: change, object }) => {
      record(type, object, change === 'DELETED');
      if (type.resource === 'customresourcedefinitions') followAll();
    });
  };
  const record = (type: ResourceType, object: KubernetesObject, isGone: boolean): void => {
    const { namespace, name } = object.metadata;
    const key = `${type.group}/${type.resource}/${namespace ?? ''}/${name}`;
    const before = known.get(key);
    const after = recorded(object);
    const ref = { ...type, namespace, name };
    if (isGone) {
      known.delete(key);
      trace.addObject({ ...ref, gone: true });
    } else {
      known.set(key, after);
      const change = before === undefined ? undefined : changeOf(before, after);
      if (change !== undefined && Object.keys(change).length === 0) return;
      trace.addObject(change === undefined ? { ...ref, object: after } : { ...ref, change: copyOf(change) });
    }
    recordPolicy(object, isGone, before);
  };
  const recordPolicy = (object: KubernetesObject, isGone: boolean, before: JsonObject | undefined): void => {
    const { kind, metadata } = object;
    if (!POLICY_KINDS.has(kind) && !isConfiguration(object)) return;
    const text = policyText(object);
    if (!isGone && before !== undefined && text === policyText(before)) return;
    const place = scenario.objects.find(
      ({ manifest }) => manifest.kind === kind && manifest.name === metadata.name,
    )?.place;
    trace.addPolicy({
      objectKind: kind,
      name: metadata.name,
      text,
      ...(place !== undefined && { file: place.file, line: place.line }),
      ...(isGone && { gone: true }),
    });
  };
  followAll();
}

const isConfiguration = ({ kind, metadata }: KubernetesObject): boolean =>
  kind === 'ConfigMap' && metadata.namespace === CONFIG_MAP.namespace && metadata.name === CONFIG_MAP.name;

/** Without what only the server needs. */
function recorded(object: KubernetesObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = copyOf(object.metadata);
  const copy = copyOf(object);
  return { ...(object.kind === 'CustomResourceDefinition' ? withoutSchemas(copy) : copy), metadata };
}

const copyOf = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

function withoutSchemas(definition: JsonObject): JsonObject {
  const { spec } = definition;
  if (!isJsonObject(spec)) return definition;
  const versions = Array.isArray(spec['versions']) ? spec['versions'] : [];
  const { conversion: _, ...rest } = spec;
  const short = versions.map(version => {
    if (!isJsonObject(version)) return version;
    const { name, served, storage } = version;
    return { name, served, storage };
  });
  return { ...definition, spec: { ...rest, versions: short } };
}

/** What its author says: name, labels, annotations and `spec` (or `data`). */
function policyText(object: { readonly [key: string]: unknown }): string {
  const { apiVersion, kind, spec, data, metadata } = object;
  const { name, labels, annotations } = isJsonObject(metadata) ? metadata : {};
  return stringify(
    {
      apiVersion,
      kind,
      metadata: { name, ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) },
      ...(spec !== undefined && { spec }),
      ...(data !== undefined && { data }),
    },
    { lineWidth: 0 },
  );
}
