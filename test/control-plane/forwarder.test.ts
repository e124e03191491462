/** The forwarder with exactly the permissions of its manifests, on a real kube-apiserver. Waits are for events, never for time. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { kindManifests } from '../../deploy/custom-kind-roles.ts';
import { createForwarder, type Forwarder } from '../../forwarder/forwarder.ts';
import { createLease, DEFAULT_LEASE_TIMINGS } from '../../forwarder/lease.ts';
import { SILENT_LOG } from '../../forwarder/log.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { ClusterEvent } from '../../shared/contract/cluster-event.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { createCountingMetrics } from '../forwarder/counting-metrics.ts';
import { createFakeBus } from '../forwarder/fake-bus.ts';
import { startControlPlane, type ControlPlane } from './start.ts';
import { objectAt } from '../fakes/objects.ts';

const SERVICE_ACCOUNT = 'system:serviceaccount:curfew:curfew-forwarder';
const root = fileURLToPath(new URL('../..', import.meta.url));
const type = (group: string, version: string, resource: string): ResourceType => ({ group, version, resource });
const TYPES: Readonly<Record<string, ResourceType>> = {
  Namespace: type('', 'v1', 'namespaces'),
  ServiceAccount: type('', 'v1', 'serviceaccounts'),
  ClusterRole: type('rbac.authorization.k8s.io', 'v1', 'clusterroles'),
  ClusterRoleBinding: type('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings'),
  Role: type('rbac.authorization.k8s.io', 'v1', 'roles'),
  RoleBinding: type('rbac.authorization.k8s.io', 'v1', 'rolebindings'),
  ConfigMap: type('', 'v1', 'configmaps'),
  Deployment: type('apps', 'v1', 'deployments'),
  PodDisruptionBudget: type('policy', 'v1', 'poddisruptionbudgets'),
  CustomResourceDefinition: type('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
};
const DEFINITIONS = type('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

let controlPlane: ControlPlane;
let admin: KubernetesApi;
let transport: Transport;
let adminTransport: Transport;
let forwarder: Forwarder;
const bus = createFakeBus();

async function connect(kubeconfig: string): Promise<Transport> {
  const { options } = await loadKubeconfig(kubeconfig);
  return createTransport({ ...options, clock: systemClock, userAgent: 'curfew-forwarder' });
}

const createAll = (file: string): Promise<void> => createDocuments(readFileSync(file, 'utf8'));

async function createDocuments(text: string): Promise<void> {
  for (const document of parseAllDocuments(text)) {
    const manifest = manifestSchema.parse(document.toJS());
    const resource = TYPES[manifest.kind];
    if (resource === undefined) throw new Error(`no resource type for ${manifest.kind}`);
    expect(await admin.create(resource, toManifest(manifest))).toMatchObject({ kind: 'ok' });
  }
}

function toManifest({ metadata, ...rest }: z.infer<typeof manifestSchema>): KubernetesManifest {
  const { namespace, ...others } = metadata;
  return { ...rest, metadata: namespace === undefined ? others : { ...others, namespace } };
}

/** The event of a line, once the bus has accepted it. */
async function published(line: string): Promise<ClusterEvent | undefined> {
  while (!bus.lines().includes(line)) await bus.nextCall();
  return bus.events[bus.lines().indexOf(line)];
}

beforeAll(async () => {
  controlPlane = await startControlPlane({ users: [{ name: SERVICE_ACCOUNT, groups: ['system:serviceaccounts'] }] });
  adminTransport = await connect(controlPlane.adminKubeconfig);
  admin = createKubernetesApi(adminTransport);
  await admin.create(type('', 'v1', 'namespaces'), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'curfew' },
  });
  for (const file of ['rbac', 'deployment', 'pod-disruption-budget']) {
    await createAll(`${root}deploy/forwarder/${file}.yaml`);
  }
  transport = await connect(controlPlane.kubeconfigFor(SERVICE_ACCOUNT));
  forwarder = createForwarder({
    watch: createClusterWatch(transport),
    bus: bus.bus,
    clock: systemClock,
    metrics: createCountingMetrics().sink,
    config: { cluster: 'test', watch: { ...DEFAULT_SETTINGS.watch, notServedPoll: seconds(1) } },
  });
  forwarder.start();
});

afterAll(async () => {
  await forwarder.stop();
  transport.close();
  adminTransport.close();
  await controlPlane.stop();
});

describe('forwarder on a real API server, with the permissions of its manifests', () => {
  it('tells of what changes and what goes, and not of what nobody reads', async () => {
    await admin.create(RESOURCES.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    const added = await published('Added Node/n1 []');
    const ref = { type: RESOURCES.Node, name: 'n1' };
    await admin.patch(ref, { type: 'merge', body: { metadata: { labels: { team: 'a' } } } });
    await admin.patch(ref, { type: 'merge', body: { spec: { unschedulable: true } } });
    expect(await published('Modified Node/n1 [unschedulable]')).toMatchObject({ subject: { uid: added?.subject.uid } });
    await admin.delete(ref, { preconditions: {} });
    await published('Deleted Node/n1 []');
    expect(bus.lines().filter(line => line.includes('Node/n1'))).toHaveLength(3);
  });

  it('tells of its one ConfigMap, and of no other', async () => {
    for (const name of ['another', 'curfew-config']) {
      const metadata = { namespace: 'curfew', name };
      await admin.create(RESOURCES.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    }
    await published('Added ConfigMap/curfew-config [data]');
    expect(bus.lines().filter(line => line.includes('ConfigMap/'))).toHaveLength(1);
  });

  it('finds custom resources whose CRD comes later', async () => {
    await createAll(`${root}deploy/crds/nodelifecyclepolicies.curfew.dev.yaml`);
    const policy = {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'all' },
      spec: {},
    };
    const create = () => admin.create(RESOURCES.NodeLifecyclePolicy, policy);
    // Until the CRD is established, which takes the server a moment.
    while ((await create()).kind === 'notFound');
    expect(await published('Added NodeLifecyclePolicy/all [spec]')).toMatchObject({ change: 'Added' });
  });

  it('sees that a definition was deleted and made again, and that its objects are others', async () => {
    const ref = { type: RESOURCES.NodeLifecyclePolicy, name: 'again' };
    const policy = {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'again' },
      spec: {},
    };
    await admin.create(RESOURCES.NodeLifecyclePolicy, policy);
    const first = await published('Added NodeLifecyclePolicy/again [spec]');
    const definition = { type: DEFINITIONS, name: 'nodelifecyclepolicies.curfew.dev' };
    const known = bus.lines().length;
    await admin.delete(definition, { preconditions: {} });
    while ((await objectAt(admin, definition)) !== undefined);
    await createAll(`${root}deploy/crds/nodelifecyclepolicies.curfew.dev.yaml`);
    while ((await admin.create(RESOURCES.NodeLifecyclePolicy, policy)).kind === 'notFound');
    const second = await objectAt(admin, ref);
    const isOther = () =>
      bus.events.slice(known).some(({ change, subject }) => change === 'Added' && subject.uid === second?.metadata.uid);
    while (!isOther()) await bus.nextCall();
    expect(bus.lines().slice(known)).toContain('Deleted NodeLifecyclePolicy/again []');
    expect(first?.subject.uid).not.toBe(second?.metadata.uid);
  });

  it('says in which version the kind of a FinalizerRule is served when that of the rule is not any more', async () => {
    await createAll(`${root}deploy/crds/finalizerrules.curfew.dev.yaml`);
    const served = (versions: Readonly<Record<string, boolean>>) => ({
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: Object.entries(versions).map(([name, isServed]) => ({
        name,
        served: isServed,
        storage: name === 'v1',
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    });
    await admin.create(DEFINITIONS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: served({ v1: true, v1beta1: true }),
    });
    await createDocuments(kindManifests('finalizerrules', [{ group: 'example.com', resource: 'gadgets' }]));
    const rule = {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'FinalizerRule',
      metadata: { name: 'gadgets' },
      spec: {
        group: 'example.com',
        version: 'v1beta1',
        kind: 'Gadget',
        finalizerName: 'example.com/cleanup',
        cleanup: { builtin: { name: 'None' } },
      },
    };
    while ((await admin.create(RESOURCES.FinalizerRule, rule)).kind === 'notFound');
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'g' } };
    while ((await admin.create(type('example.com', 'v1', 'gadgets'), gadget)).kind === 'notFound');
    await published('Added Gadget/g [generation]');
    const watchIs = async (state: string): Promise<ClusterEvent['watch']> => {
      for (;;) {
        const last = bus.events.findLast(({ subject, watch }) => subject.name === 'gadgets' && watch !== undefined);
        if (last?.watch?.state === state) return last.watch;
        await bus.nextCall();
      }
    };
    expect(await watchIs('Watching')).toMatchObject({ resource: 'gadgets' });
    const definition = { type: DEFINITIONS, name: 'gadgets.example.com' };
    await admin.patch(definition, { type: 'merge', body: { spec: served({ v1: true, v1beta1: false }) } });
    expect(await watchIs('NotServed')).toMatchObject({
      message: 'the API server serves Gadget of example.com in v1, not in v1beta1: name a version that it serves',
    });
    expect(bus.lines()).not.toContain('Deleted Gadget/g []');
    const ref = { type: RESOURCES.FinalizerRule, name: 'gadgets' };
    await admin.patch(ref, { type: 'merge', body: { spec: { version: 'v1' } } });
    expect(await watchIs('Watching')).toMatchObject({ version: 'v1' });
  });

  it('may hold its Lease and nothing beside it', async () => {
    const kubernetes = createKubernetesApi(transport);
    const lease = (name: string, identity: string) =>
      createLease({
        kubernetes,
        clock: systemClock,
        log: SILENT_LOG,
        settings: { namespace: 'curfew', name, identity, ...DEFAULT_LEASE_TIMINGS },
      });
    const { signal } = new AbortController();
    const first = lease('curfew-forwarder', 'first');
    await first.acquire(signal);
    await first.release();
    await lease('curfew-forwarder', 'second').acquire(signal);
    const ref = { type: type('coordination.k8s.io', 'v1', 'leases'), namespace: 'curfew', name: 'curfew-forwarder' };
    expect(await objectAt(admin, ref)).toMatchObject({ spec: { holderIdentity: 'second', leaseTransitions: 1 } });
    await expect(kubernetes.get({ ...ref, name: 'another' })).rejects.toThrow(/forbidden|cannot get/);
    await expect(kubernetes.list(RESOURCES.ConfigMap, { namespace: 'curfew' })).rejects.toThrow(
      /forbidden|cannot list/,
    );
  });
});
