/** What stands around Curfew in a cluster. Actors act through the API only, as users `actor:<name>`. */
import type { KubernetesObject, ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { arrayAt, isObject } from '../../packages/kube-apiserver/src/json.ts';
import { ApiStatusError, type ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { Cloud } from '../cloud.ts';
import { followKind } from '../followed-kind.ts';
import type { Launches } from '../launches.ts';

/** What actors need of an API server, as they find it at once. */
export type ActorApi = Pick<
  ApiServerCore,
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'evict' | 'resourceForKind'
>;

export interface ActorWorld {
  readonly core: ActorApi;
  readonly scheduler: Scheduler;
  readonly cloud: Pick<Cloud, 'add' | 'remove'> & {
    /** Nothing names it any more. For clusters to live in: a simulation looks at all instances in the end. */
    readonly forget?: (providerID: string) => void;
  };
  /** Which NodeClaims are launched; undefined: none. */
  readonly launches?: Pick<Launches, 'resultFor' | 'onSet'>;
  /** Restarts an instance; false: the provider did not take the call. undefined: it never does. */
  readonly reboot?: (providerID: string) => boolean;
}

/** Starts an actor; it runs until the end of the simulation. */
export type StartActor = (world: ActorWorld) => void;

export const RESOURCE_TYPES = {
  nodes: { group: '', version: 'v1', resource: 'nodes' },
  pods: { group: '', version: 'v1', resource: 'pods' },
  events: { group: '', version: 'v1', resource: 'events' },
  nodeclaims: { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' },
  nodepools: { group: 'karpenter.sh', version: 'v1', resource: 'nodepools' },
  poddisruptionbudgets: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
} as const satisfies Readonly<Record<string, ResourceType>>;

export function refOf(type: ResourceType, { metadata }: KubernetesObject): ObjectRef {
  const { namespace, name } = metadata;
  return { type, name, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * Tells of each object of a resource as it is now and whenever it changes; `gone` when it is removed. When the API server goes back to a
 * snapshot, what is another one by that is gone and comes, as for a controller that starts again.
 */
export function follow(
  core: ActorApi,
  type: ResourceType,
  seen: (object: KubernetesObject) => void,
  gone: (object: KubernetesObject) => void = () => undefined,
): void {
  followKind(core, type, ({ type: change, object, restoredFrom }) => {
    if (restoredFrom !== undefined) gone(restoredFrom);
    if (change === 'DELETED') gone(object);
    else seen(object);
  });
}

/** What `action` returns; undefined when the object is not there, or another one of that name is. */
export function unlessRefused<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof ApiStatusError && (error.status.code === 404 || error.status.code === 409)) return undefined;
    throw error;
  }
}

/** The object, if it is still the one of that UID. */
export function getSame(core: ActorApi, ref: ObjectRef, uid: string): KubernetesObject | undefined {
  const object = unlessRefused(() => core.get(ref));
  return object?.metadata.uid === uid ? object : undefined;
}

/** Whether a condition of the object is True. */
export const says = ({ status = {} }: KubernetesObject, type: string): boolean =>
  arrayAt(status, 'conditions').some(each => isObject(each) && each['type'] === type && each['status'] === 'True');

/** A text field of `spec` or `status`; undefined when it is missing or empty. */
export function textIn(part: KubernetesObject['spec'], key: string): string | undefined {
  const value = part?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
