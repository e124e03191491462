/**
 * The clusters of the storm bench: nodes with pods, kubelets that stop pods at once, and who hears of what is done. Those who drain reach
 * both over HTTP, as the users that they are in production where the API server asks for one.
 */
import { startEmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { isObject } from '../../packages/kube-apiserver/src/json.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { startKubelet } from '../../simulator/actors/kubelet.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { startCurfewOnCluster } from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import type { Access } from './objects.ts';

export interface StormCluster {
  readonly access: Access;
  create(manifests: readonly KubernetesManifest[]): Promise<void>;
}

/** Each is called once for a pod whose eviction was accepted, and for each state of a Node. */
export interface StormListener {
  readonly evicted: () => void;
  readonly node: (node: KubernetesObject) => void;
}

export async function embeddedCluster({ evicted, node }: StormListener): Promise<StormCluster> {
  const { core, url } = await startEmbeddedCluster(systemClock, 0);
  const scheduler = createRealScheduler();
  startKubelet({ core, scheduler, cloud: createCloud(scheduler) });
  core.observe(({ verb, resource, after }) => {
    if (verb === 'evict') evicted();
    if (resource.kind === 'Node' && after !== undefined) node(after);
  });
  return {
    access: { server: url },
    create: async manifests => manifests.forEach(manifest => core.seed(manifest)),
  };
}

const NAMESPACES: ResourceType = { group: '', version: 'v1', resource: 'namespaces' };
const TYPES: Readonly<Record<string, ResourceType>> = {
  Node: RESOURCES.Node,
  Pod: RESOURCES.Pod,
  ConfigMap: RESOURCES.ConfigMap,
};

/** A kube-apiserver with its etcd. An eviction shows in the pod's deletion timestamp. */
export async function realCluster({ evicted, node }: StormListener): Promise<StormCluster> {
  const { plane, admin, users } = await startCurfewOnCluster(() => undefined);
  const { kubernetes, watch } = admin;
  const follow = async (type: ResourceType, onChange: (object: KubernetesObject) => void): Promise<void> => {
    const { signal } = new AbortController();
    const page = await watch.list(type, { signal });
    invariant(page.kind === 'page', `${type.resource} are served`);
    void (async () => {
      let { resourceVersion } = page;
      for (;;) {
        for await (const event of watch.watch(type, { resourceVersion, timeoutSeconds: 3600, signal })) {
          resourceVersion = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
          if (event.type === 'ADDED' || event.type === 'MODIFIED') onChange(event.object);
        }
      }
    })();
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } };
  await kubernetes.create(NAMESPACES, namespace);
  const going = new Set<string>();
  await follow(RESOURCES.Node, node);
  await follow(RESOURCES.Pod, ({ metadata: { namespace = '', name, uid, deletionTimestamp } }) => {
    if (deletionTimestamp === undefined || going.has(uid)) return;
    going.add(uid);
    evicted();
    void kubernetes.delete({ type: RESOURCES.Pod, namespace, name }, { preconditions: { uid }, gracePeriodSeconds: 0 });
  });
  return {
    access: {
      server: plane.url,
      ca: plane.caPem,
      tokens: Object.fromEntries(users.map(user => [user, plane.tokenFor(user)])),
    },
    create: manifests =>
      fewAtATime(manifests, async manifest => {
        const type = TYPES[manifest.kind];
        invariant(type !== undefined, `${manifest.kind} has a resource`);
        const outcome = await kubernetes.create(type, manifest);
        invariant(outcome.kind === 'ok' || outcome.kind === 'exists', `${manifest.kind} can be made: ${outcome.kind}`);
        const { namespace, name = '' } = manifest.metadata;
        const { status } = manifest;
        if (!isObject(status)) return;
        // A create takes no status.
        const patch = { type: 'merge', body: { status } } as const;
        await kubernetes.patch({ type, name, ...(namespace !== undefined && { namespace }) }, patch, {
          subresource: 'status',
        });
      }),
  };
}
