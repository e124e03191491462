/**
 * Objects that hold others: a Namespace its objects, a CustomResourceDefinition its custom resources. Deleting one deletes what is
 * in it; it goes when that is gone. In a real cluster a controller does this step by step, here it happens at once.
 */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isObject, objectAt } from '../json.ts';
import { metadataOf, nameOf, namespaceOf, withMetadata } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { forbidden } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';
import { commit } from './commit.ts';
import { NAMESPACES } from './namespaces.ts';

/** What is left of an object after a delete: its state, or nothing but the last state. */
export type Remains = { readonly stays: JsonObject } | { readonly removed: JsonObject };

export interface Container {
  /** @throws ApiStatusError 403 for what must not be deleted */
  checkRemovable(): void;
  contents(): Target[];
  /** The container's state while its contents go. */
  terminating(object: JsonObject, now: string): JsonObject;
}

const DEFINITIONS = { group: 'apiextensions.k8s.io', name: 'customresourcedefinitions' };
const PERMANENT_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-public', 'kube-system']);
/** Holds a CustomResourceDefinition while there are objects of its kinds. */
const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** The container that an object is; undefined for most. */
export function containerOf(server: ServerContext, { served, name }: Target): Container | undefined {
  const { group, resource } = served.info;
  if (group === NAMESPACES.group && resource === NAMESPACES.name) return namespace(server, name);
  if (group === DEFINITIONS.group && resource === DEFINITIONS.name) return definition(server, name);
  return undefined;
}

function namespace(server: ServerContext, name: string): Container {
  return {
    checkRemovable() {
      if (PERMANENT_NAMESPACES.has(name)) throw forbidden(NAMESPACES, name, 'this namespace may not be deleted');
    },
    contents: () =>
      [...server.registry.preferred()]
        .filter(({ info, storage }) => info.namespaced && storage.collection.hasNamespace(name))
        .flatMap(served => served.storage.collection.list(name).map(object => targetOfStored(served, object))),
    terminating: object => ({ ...object, status: { ...objectAt(object, 'status'), phase: 'Terminating' } }),
  };
}

function definition(server: ServerContext, name: string): Container {
  const dot = name.indexOf('.');
  const served = server.registry.find(name.slice(dot + 1), name.slice(0, dot));
  return {
    checkRemovable() {},
    contents: () =>
      (served?.storage.collection.list() ?? []).flatMap(object => (served ? targetOfStored(served, object) : [])),
    terminating(object, now) {
      const status = objectAt(object, 'status');
      const condition = {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: now,
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      };
      const conditions = arrayAt(status, 'conditions').filter(each => !(isObject(each) && each.type === 'Terminating'));
      const finalizers = [...new Set([...arrayAt(metadataOf(object), 'finalizers'), CLEANUP_FINALIZER])];
      return withMetadata({ ...object, status: { ...status, conditions: [...conditions, condition] } }, { finalizers });
    },
  };
}

function targetOfStored(served: Target['served'], object: JsonObject): Target {
  return { served, namespace: namespaceOf(object), name: nameOf(object) };
}

/**
 * Ends a terminating container that is empty: its own finalizer goes, and with the last finalizer the object.
 * @returns undefined when it is not (or no longer) a container that ends
 */
export function finalize(server: ServerContext, target: Target): Remains | undefined {
  const container = containerOf(server, target);
  const stored = target.served.storage.collection.get(target.namespace, target.name);
  if (container === undefined || stored === undefined) return undefined;
  const metadata = metadataOf(stored);
  if (metadata.deletionTimestamp === undefined || container.contents().length > 0) return undefined;
  const finalizers: JsonValue[] = arrayAt(metadata, 'finalizers').filter(finalizer => finalizer !== CLEANUP_FINALIZER);
  if (finalizers.length === 0) return { removed: commit(server, target, { before: stored, after: undefined }) };
  return { stays: commit(server, target, { before: stored, after: withMetadata(stored, { finalizers }) }) };
}

/** What follows from a removal or an update: a terminating container that this leaves empty and unheld ends. */
export function afterChange(server: ServerContext, target: Target): void {
  const { served, namespace: inNamespace } = target;
  finalize(server, target);
  if (inNamespace !== CLUSTER) finalizeNamed(server, NAMESPACES, inNamespace);
  if (served.rules.refusesCreate !== undefined) {
    finalizeNamed(server, DEFINITIONS, `${served.info.resource}.${served.info.group}`);
  }
}

function finalizeNamed(server: ServerContext, resource: { group: string; name: string }, name: string): void {
  const served = server.registry.find(resource.group, resource.name);
  if (served !== undefined) finalize(server, { served, namespace: CLUSTER, name });
}
