/** The forwarder over the real HTTP adapter, against the embedded API server on loopback. Waits are for events, never for time. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForwarder, type Forwarder } from '../../forwarder/forwarder.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { ClusterEvent } from '../../shared/contract/cluster-event.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import { createCountingMetrics } from './counting-metrics.ts';
import { createFakeBus } from './fake-bus.ts';

const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' };
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { providerID: 'aws:///us-west-2a/i-0abc' },
};
const nodeRef = { type: RESOURCES.Node, name: 'n1' };
const ready = (status: string, lastHeartbeatTime: string) => ({
  status: {
    conditions: [
      {
        type: 'Ready',
        status,
        lastHeartbeatTime,
        lastTransitionTime: '2024-11-01T15:00:00Z',
        reason: 'R',
        message: '',
      },
    ],
  },
});

let core: ApiServerCore;
let api: ServedApi;
let transport: Transport;
let forwarder: Forwarder;
const bus = createFakeBus();
const metrics = createCountingMetrics();
const short = toDurationMs(10);

const writeStatus = (body: JsonObject): KubernetesObject =>
  core.patch(nodeRef, { type: 'merge', body }, { subresource: 'status' });

beforeEach(async () => {
  core = createApiServer({ clock: systemClock });
  core.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'curfew' } });
  api = await serveApiServer(core, { now: () => systemClock.now() });
  transport = createTransport({ server: api.url, clock: systemClock, userAgent: 'curfew-forwarder' });
  bus.events.length = 0;
  forwarder = createForwarder({
    watch: createClusterWatch(transport),
    bus: bus.bus,
    clock: systemClock,
    metrics: metrics.sink,
    config: {
      cluster: 'test',
      customResources: { notServedPoll: short, backoff: { first: short, longest: short }, kindsMax: 10 },
      watch: {
        pageSize: 2,
        watchTimeout: toDurationMs(300_000),
        longestInactivity: toDurationMs(150_000),
        listTimeout: toDurationMs(10_000),
        notServedPoll: short,
        backoff: { first: short, longest: short },
      },
    },
  });
});

afterEach(async () => {
  await forwarder.stop({ drainTimeout: toDurationMs(0) });
  transport.close();
  await api.close();
});

/** The event of a line, once the bus has accepted it. */
async function published(line: string): Promise<ClusterEvent | undefined> {
  while (!bus.lines().includes(line)) await bus.nextCall();
  return bus.events[bus.lines().indexOf(line)];
}

describe('over HTTP', () => {
  it('publishes what exists, what changes and what goes, and no heartbeat', async () => {
    core.create(RESOURCES.Node, node);
    writeStatus(ready('True', '2024-11-01T15:00:00Z'));
    forwarder.start();
    await published('Added Node/n1 [conditions,providerID]');
    writeStatus(ready('True', '2024-11-01T15:05:00Z'));
    writeStatus(ready('False', '2024-11-01T15:06:00Z'));
    await published('Modified Node/n1 [conditions]');
    core.delete(nodeRef);
    await published('Deleted Node/n1 []');
    expect(bus.lines()).toHaveLength(3);
  });

  it('pages through a list, and sees pods and configuration as it should', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) core.create(RESOURCES.Node, { ...node, metadata: { name } });
    for (const name of ['curfew-config', 'another']) {
      core.create(RESOURCES.ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'curfew', name },
      });
    }
    forwarder.start();
    await published('Added ConfigMap/curfew-config []');
    await published('Added Node/e [providerID]');
    expect(bus.lines()).toHaveLength(6);
  });

  it('starts to watch a custom resource when its CRD appears', async () => {
    forwarder.start();
    core.create(CRDS, parse(readFileSync('simulator/crds/nodepools.karpenter.sh.yaml', 'utf8')));
    const spec = { template: { spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [] } } };
    core.create(RESOURCES.NodePool, { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'p' }, spec });
    expect(await published('Added NodePool/p [spec]')).toMatchObject({ subject: { apiVersion: 'karpenter.sh/v1' } });
  });

  it('watches the kind that a FinalizerRule names, however it is spelled in a URL', async () => {
    const group = 'curfew.dev';
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const definition = (names: { plural: string; kind: string }, inGroup: string, version: string, scope: string) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${names.plural}.${inGroup}` },
      spec: {
        group: inGroup,
        names,
        scope,
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: open } }],
      },
    });
    core.create(CRDS, definition({ plural: 'finalizerrules', kind: 'FinalizerRule' }, group, 'v1alpha1', 'Cluster'));
    forwarder.start();
    core.create(RESOURCES.FinalizerRule, {
      apiVersion: `${group}/v1alpha1`,
      kind: 'FinalizerRule',
      metadata: { name: 'foxes' },
      spec: { group: 'example.com', version: 'v1', kind: 'Fox' },
    });
    await published('Added FinalizerRule/foxes [spec]');
    core.create(CRDS, definition({ plural: 'foxes', kind: 'Fox' }, 'example.com', 'v1', 'Namespaced'));
    core.create(
      { group: 'example.com', version: 'v1', resource: 'foxes' },
      {
        apiVersion: 'example.com/v1',
        kind: 'Fox',
        metadata: { namespace: 'curfew', name: 'red', finalizers: ['a.b/c'] },
      },
    );
    const event = await published('Added Fox/red [finalizers,generation]');
    expect(event).toMatchObject({ subject: { apiVersion: 'example.com/v1', namespace: 'curfew' } });
    await published('Modified FinalizerRule/foxes [watch]');
  });

  it('lists the pods of a node that is watched, and what can hold them', async () => {
    core.create(RESOURCES.Node, node);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'curfew', name: 'a' },
      spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'a' }] },
    };
    core.create(RESOURCES.Pod, pod);
    forwarder.start();
    await published('Added Node/n1 [providerID]');
    core.patch(nodeRef, { type: 'merge', body: { metadata: { annotations: { 'curfew.dev/watch-pods': 'drain' } } } });
    await published('Modified Node/n1 [podsWatched]');
    core.delete({ type: RESOURCES.Pod, namespace: 'curfew', name: 'a' }, { gracePeriodSeconds: 0 });
    expect(await published('Modified Node/n1 [pods]')).toMatchObject({ hints: { nodeName: 'n1' } });
  });

  it('makes up for what happened while its connections were gone and its history forgotten', async () => {
    const { uid } = core.create(RESOURCES.Node, node).metadata;
    core.create(RESOURCES.Node, { ...node, metadata: { name: 'n2' } });
    forwarder.start();
    await published('Added Node/n2 [providerID]');
    core.delete(nodeRef);
    core.compact();
    api.dropWatches();
    expect(await published('Deleted Node/n1 []')).toMatchObject({ subject: { uid } });
  });
});
