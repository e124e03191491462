/**
 * Reads of Nodes, NodeClaims and pods. While the pages of a list stream in, only what the readers of `shared/domain` look at is kept. The
 * images of a Node, the environment of a container and what field managers note make up most of an object. Always live reads.
 */
import { RESOURCES } from '../contract/resources.ts';
import { fieldsOf } from '../domain/json.ts';
import type { JsonObject, JsonValue, KubernetesObject, ObjectMeta, ResourceType } from '../domain/kubernetes-object.ts';
import { readNodeClaim, type NodeClaimView } from '../domain/node-claim.ts';
import { readNode, type NodeView } from '../domain/node.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { ListQuery, ObjectProjection } from '../ports/kubernetes-api.ts';
import { objectOf, objectsOf, type IfNotServed } from '../ports/read-answer.ts';

/** Names of field managers. */
const NOTES = ['managedFields'];

type Deps = Pick<FunctionDeps, 'kubernetes'>;

const get = async ({ kubernetes }: Deps, type: ResourceType, name: string): Promise<KubernetesObject | undefined> =>
  objectOf(await kubernetes.get({ type, name }), { ifNotServed: 'throw' });

/** The Node of this name; undefined: there is none. */
export const getNode = (deps: Deps, name: string) => get(deps, RESOURCES.Node, name);

/** The NodeClaim of this name; undefined: there is none. */
export const getNodeClaim = (deps: Deps, name: string) => get(deps, RESOURCES.NodeClaim, name);

/** The Node of this name, read; undefined: there is none. */
export async function getNodeView(deps: Deps, name: string): Promise<NodeView | undefined> {
  const object = await getNode(deps, name);
  return object && readNode(object);
}

/** The NodeClaim of this name, read; undefined: there is none. */
export async function getNodeClaimView(deps: Deps, name: string): Promise<NodeClaimView | undefined> {
  const object = await getNodeClaim(deps, name);
  return object && readNodeClaim(object);
}

/** Matching Nodes, with all that `readNode` reads, and the taints. */
export async function listNodes({ kubernetes }: Deps, query: ListQuery = {}): Promise<readonly KubernetesObject[]> {
  return objectsOf(
    await kubernetes.list(RESOURCES.Node, query, { project: projectNode, unread: ['images', ...NOTES] }),
    { ifNotServed: 'throw' },
  );
}

/** Matching NodeClaims, with all that `readNodeClaim` reads. */
export async function listNodeClaims(
  { kubernetes }: Deps,
  reading: IfNotServed,
  query: ListQuery = {},
): Promise<readonly KubernetesObject[]> {
  return objectsOf(
    await kubernetes.list(RESOURCES.NodeClaim, query, { project: projectNodeClaim, unread: NOTES }),
    reading,
  );
}

/** Matching pods, with all that `readPod` reads. */
export async function listPods({ kubernetes }: Deps, query: ListQuery): Promise<readonly KubernetesObject[]> {
  return objectsOf(await kubernetes.list(RESOURCES.Pod, query, { project: projectPod, unread: NOTES }), {
    ifNotServed: 'throw',
  });
}

/** The fields that `readNode` reads, the taints, and the cordon. */
export const projectNode: ObjectProjection = object =>
  projected(object, ['providerID', 'taints', 'unschedulable'], ['conditions'], {
    nodeInfo: pick(fieldsOf(object.status?.['nodeInfo']), ['bootID']),
  });

/** The fields that `readNodeClaim` reads. */
export const projectNodeClaim: ObjectProjection = object =>
  projected(object, ['terminationGracePeriod', 'startupTaints'], ['providerID', 'nodeName', 'conditions']);

/** The fields that `readPod` reads: of a container its resources, of a volume its claim. */
export const projectPod: ObjectProjection = object => {
  const { spec } = object;
  const kept = projected(
    object,
    ['nodeName', 'terminationGracePeriodSeconds', 'priorityClassName', 'tolerations'],
    ['phase', 'conditions', 'startTime'],
  );
  if (spec === undefined) return kept;
  const lists = {
    initContainers: eachOf(spec['initContainers'], ['resources']),
    containers: eachOf(spec['containers'], ['resources']),
    volumes: eachOf(spec['volumes'], ['name', 'persistentVolumeClaim', 'ephemeral']),
  };
  return { ...kept, spec: { ...kept.spec, ...pick(lists, ['initContainers', 'containers', 'volumes']) } };
};

function projected(
  { apiVersion, kind, metadata, spec, status }: KubernetesObject,
  ofSpec: readonly string[],
  ofStatus: readonly string[],
  addedStatus: JsonObject = {},
): KubernetesObject {
  return {
    apiVersion,
    kind,
    metadata: projectMetadata(metadata),
    ...(spec && { spec: pick(spec, ofSpec) }),
    ...(status && { status: { ...pick(status, ofStatus), ...addedStatus } }),
  };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Everything but what field managers and `kubectl apply` note for themselves. */
function projectMetadata(metadata: ObjectMeta): ObjectMeta {
  const { managedFields: _, ...fields } = metadata as ObjectMeta & { readonly managedFields?: unknown };
  if (metadata.annotations?.[LAST_APPLIED] === undefined) return fields;
  const annotations = Object.entries(metadata.annotations).filter(([key]) => key !== LAST_APPLIED);
  return { ...fields, annotations: Object.fromEntries(annotations) };
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of names) {
    const value = object[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** undefined: there is no list. */
const eachOf = (value: JsonValue | undefined, names: readonly string[]): JsonValue | undefined =>
  Array.isArray(value) ? value.map((item: JsonValue) => pick(fieldsOf(item), names)) : undefined;
