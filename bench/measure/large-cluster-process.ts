/** A large cluster in a process of its own: an API server with large nodes in several pools. The first of them is to be repaired. */
import * as z from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { CREATION_TIME, nodeConditions, nodeManifest, nodeName } from '../node-objects.ts';
import { answerQuestions } from './answering.ts';
import { CLAIM_SPEC, configMap } from '../objects.ts';

const startSchema = z.object({
  nodes: z.number(),
  nodeBytes: z.number(),
  /** Nodes of the first pool; the others are spread over twenty more. */
  firstPool: z.number(),
  /** Pods, spread over the nodes. */
  pods: z.number().default(0),
});
const OTHER_POOLS = 20;

let ill = 0;
let core: ApiServerCore | undefined;
let url = '';

answerQuestions({
  async start(argument) {
    const { nodes, nodeBytes, firstPool, pods } = startSchema.parse(argument);
    core = createApiServer({ clock: systemClock, random: Math.random });
    for (const definition of customResourceDefinitions()) core.seed(definition);
    core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
    for (const manifest of SETTINGS) core.seed(manifest);
    for (let index = 0; index < nodes; index += 1) {
      const node = toLargeNode(index, index < firstPool ? POOL : `pool-${1 + (index % OTHER_POOLS)}`, nodeBytes);
      core.seed(node);
      core.seed(toClaim(node));
    }
    for (let index = 0; index < pods; index += 1) core.seed(toPod(index, nodeName(index % nodes)));
    ({ url } = await serveApiServer(core, { now: () => systemClock.now() }));
    return { url, node: nodeName(ill) };
  },

  next() {
    invariant(core !== undefined, 'the cluster is started first');
    const name = nodeName(ill);
    core.delete({ type: RESOURCES.Node, name });
    const claim = { type: RESOURCES.NodeClaim, name: claimName(name) };
    core.patch(claim, { type: 'merge', body: { metadata: { finalizers: null } } });
    ill += 1;
    const conditions = nodeConditions({
      heartbeatTime: CREATION_TIME,
      transitionTime: CREATION_TIME,
      ready: 'Unknown',
    });
    const patch = { type: 'merge', body: { status: { conditions: [...conditions] } } } as const;
    core.patch({ type: RESOURCES.Node, name: nodeName(ill) }, patch, { subresource: 'status' });
    return { url, node: nodeName(ill) };
  },
});

const claimName = (node: string): string => `claim-${node}`;
const POOL = 'pool-0';
const nodePool = (name: string): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  spec: { template: { spec: CLAIM_SPEC }, repair: {} },
});
const SETTINGS: readonly KubernetesManifest[] = [
  configMap(),
  nodePool(POOL),
  ...Array.from({ length: OTHER_POOLS }, (_, index) => nodePool(`pool-${index + 1}`)),
];

/** The first node has not been ready since it was made; the images on a node make it as large as asked for. */
function toLargeNode(index: number, pool: string, bytes: number): KubernetesManifest {
  const manifest = nodeManifest(index);
  const { metadata } = manifest;
  const labels = { ...metadata.labels, [KARPENTER.nodePoolLabel]: pool };
  // In its place: the API server writes the members of an object in an order of its own.
  const node = { ...manifest, metadata: { ...metadata, labels } };
  const ready = index === 0 ? 'Unknown' : 'True';
  const conditions = nodeConditions({ heartbeatTime: CREATION_TIME, transitionTime: CREATION_TIME, ready });
  const spec = { providerID: `aws:///us-west-2a/i-${index.toString(16).padStart(17, '0')}` };
  const image = (number: number): JsonObject => ({
    names: [`registry.example/team-${number}/service@sha256:${number.toString(16).padStart(64, '0')}`],
    sizeBytes: 100_000_000 + number,
  });
  const filled = (images: readonly JsonObject[]): KubernetesManifest => ({
    ...node,
    spec,
    status: { ...statusOf(node), conditions: [...conditions], images },
  });
  const missing = bytes - JSON.stringify(filled([])).length;
  const each = JSON.stringify(image(0)).length + 1;
  return filled(Array.from({ length: Math.max(0, Math.round(missing / each)) }, (_, number) => image(number)));
}

const statusOf = ({ status }: KubernetesManifest): JsonObject =>
  typeof status === 'object' && status !== null && !Array.isArray(status) ? { ...status } : {};

/** A pod of a workload, as a kubelet reports it. */
function toPod(index: number, node: string): KubernetesManifest {
  const name = `web-${index}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: CONFIG_MAP.namespace,
      name,
      labels: { app: `web-${index % 100}`, 'pod-template-hash': '6d4cf56db6' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${index % 100}`, uid: `rs-${index % 100}` },
      ],
    },
    spec: {
      nodeName: node,
      containers: [
        { name: 'web', image: 'registry.example/web:1', resources: { requests: { cpu: '100m', memory: '128Mi' } } },
      ],
    },
    status: {
      phase: 'Running',
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type => ({ type, status: 'True' })),
    },
  };
}

function toClaim({ metadata, spec }: KubernetesManifest): KubernetesManifest {
  const providerID = typeof spec === 'object' && spec !== null && 'providerID' in spec ? spec.providerID : '';
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: claimName(metadata.name ?? ''),
      creationTimestamp: toTimestamp(toEpochMs(CREATION_TIME)),
      labels: { [KARPENTER.nodePoolLabel]: metadata.labels?.[KARPENTER.nodePoolLabel] ?? '' },
      finalizers: [KARPENTER.terminationFinalizer],
    },
    spec: CLAIM_SPEC,
    status: { providerID: String(providerID), nodeName: metadata.name ?? '' },
  };
}
