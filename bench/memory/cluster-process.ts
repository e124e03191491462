/** The cluster of the memory bench in a process of its own: an API server with large nodes, one of which is to be repaired. */
import * as z from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp } from '../../shared/domain/time.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { CREATION_TIME, nodeConditions, nodeManifest } from '../node-objects.ts';
import { answerQuestions } from '../measure/answering.ts';
import { configMap } from '../objects.ts';

const startSchema = z.object({ nodes: z.number(), nodeBytes: z.number() });

answerQuestions({
  async start(argument) {
    const { nodes, nodeBytes } = startSchema.parse(argument);
    const core = createApiServer({ clock: systemClock, random: Math.random });
    for (const definition of customResourceDefinitions()) core.seed(definition);
    core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
    for (const manifest of SETTINGS) core.seed(manifest);
    let bytes = 0;
    for (let index = 0; index < nodes; index += 1) {
      const node = toLargeNode(index, nodeBytes);
      bytes += JSON.stringify(node).length;
      core.seed(node);
      core.seed(toClaim(node));
    }
    const served = await serveApiServer(core, { now: () => systemClock.now() });
    return { url: served.url, nodeBytes: bytes / nodes };
  },
});

const SETTINGS: readonly KubernetesManifest[] = [
  configMap(),
  { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'pool-0' }, spec: { repair: {} } },
];

/** The first node has not been ready since it was made; the images on a node make it as large as asked for. */
function toLargeNode(index: number, bytes: number): KubernetesManifest {
  const node = nodeManifest(index);
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

function toClaim({ metadata, spec }: KubernetesManifest): KubernetesManifest {
  const providerID = typeof spec === 'object' && spec !== null && 'providerID' in spec ? spec.providerID : '';
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: `claim-${metadata.name ?? ''}`,
      creationTimestamp: toTimestamp(toEpochMs(CREATION_TIME)),
      labels: { 'karpenter.sh/nodepool': metadata.labels?.['karpenter.sh/nodepool'] ?? '' },
      finalizers: ['karpenter.sh/termination'],
    },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }],
    },
    status: { providerID: String(providerID), nodeName: metadata.name ?? '' },
  };
}
