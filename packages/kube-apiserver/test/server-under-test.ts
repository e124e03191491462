/** A server on a clock that tests move, and objects to put into it. */
import { createApiServer } from '../src/api-server.ts';
import type { ApiServerCore, Status, WatchEvent, WatchOptions } from '../src/types.ts';
import { ApiStatusError } from '../src/types.ts';
import type {
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '../src/kubernetes-object.ts';

export const START = '2024-11-01T15:00:00Z';

export const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes' };
export const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods' };
export const NAMESPACES: ResourceType = { group: '', version: 'v1', resource: 'namespaces' };
export const CONFIG_MAPS: ResourceType = { group: '', version: 'v1', resource: 'configmaps' };
export const EVENTS: ResourceType = { group: '', version: 'v1', resource: 'events' };
export const LEASES: ResourceType = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
export const DEPLOYMENTS: ResourceType = { group: 'apps', version: 'v1', resource: 'deployments' };
export const BUDGETS: ResourceType = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
export const DEFINITIONS: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

export interface ServerUnderTest {
  readonly api: ApiServerCore;
  /** Moves the clock. */
  advance(seconds: number): void;
}

export function aServer(options: { watchHistory?: number } = {}): ServerUnderTest {
  let now = Date.parse(START);
  const api = createApiServer({ clock: { now: () => now }, ...options });
  return {
    api,
    advance(seconds) {
      now += seconds * 1000;
    },
  };
}

export function node(name: string): ObjectRef {
  return { type: NODES, name };
}

export function pod(name: string): ObjectRef {
  return { type: PODS, namespace: 'default', name };
}

type Metadata = KubernetesManifest['metadata'];

export function aNode(name: string, more: JsonObject = {}, metadata: Metadata = {}): KubernetesManifest {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, ...more };
}

/** A pod on node `n1`. */
export function aPod(name: string, spec: JsonObject = {}, metadata: Metadata = {}): KubernetesManifest {
  const containers = [{ name: 'app', image: 'example.com/app' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { nodeName: 'n1', containers, ...spec },
  };
}

export function aConfigMap(name: string, data: JsonObject = {}, metadata: Metadata = {}): KubernetesManifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data };
}

/** What the server refuses a request with. */
export function refusal(request: () => unknown): Status {
  try {
    request();
  } catch (error) {
    if (error instanceof ApiStatusError) return error.status;
    throw error;
  }
  throw new Error('the request was not refused');
}

/** The causes of a refusal as `field: message`. */
export function causesOf(status: Status): string[] {
  const causes = status.details?.causes;
  if (!Array.isArray(causes)) return [];
  return causes.map((cause: unknown) => {
    const { field, message }: { field?: unknown; message?: unknown } = Object(cause);
    return `${String(field)}: ${String(message)}`;
  });
}

/** The events of a watch as they come, each as `TYPE name`, and as such. */
export function watching(api: ApiServerCore, type: ResourceType, options: WatchOptions = {}) {
  const events: WatchEvent[] = [];
  const watch = api.watch(type, options, event => events.push(event));
  return { events, stop: () => watch.stop(), lines: () => events.map(line) };
}

function line(event: WatchEvent): string {
  if (event.type === 'BOOKMARK') return event.type;
  return event.type === 'ERROR' ? `ERROR ${event.object.code}` : `${event.type} ${event.object.metadata.name}`;
}

/** Finds an object or answers undefined. */
export function find(api: ApiServerCore, ref: ObjectRef): KubernetesObject | undefined {
  try {
    return api.get(ref);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return undefined;
    throw error;
  }
}
