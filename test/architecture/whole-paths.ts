/** The changes of `docs/data-flow.md`, each followed from the watch event to its effect. */
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { enteredBy } from './entered-files.ts';
import { startWholePath, type WholePath } from './whole-path.ts';

/** One change and what it leads to. */
interface FollowedPath {
  /** That of its section in the document. */
  readonly heading: string;
  /** The number of files that it may enter: about as many as it enters today. */
  readonly most: number;
  /** Answers the files that are entered. */
  readonly follow: () => Promise<readonly string[]>;
}

const NODE = { type: RESOURCES.Node, name: 'n1' };
const POD = { type: RESOURCES.Pod, namespace: 'default', name: 'web-0' };
const NODE_CLAIM = { type: RESOURCES.NodeClaim, name: 'nc1' };

const labels = { 'karpenter.sh/nodepool': 'default' };
const providerID = 'aws:///us-west-2a/i-0abc';
const node: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels },
  spec: { providerID },
};
const pod: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'default' },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  status: { phase: 'Running' },
};
const nodePool = (spec: object): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec,
});
const nodeClaim = (finalizer: string): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'nc1', labels, finalizers: [finalizer] },
  status: { providerID, nodeName: 'n1' },
});
const config = (toml: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'curfew', name: 'curfew-config' },
  data: { 'config.toml': toml },
});

export const WHOLE_PATHS: readonly FollowedPath[] = [
  {
    heading: 'A node condition becomes a deleted NodeClaim',
    most: 138,
    follow: () =>
      follow(
        [
          node,
          nodePool({ repair: { defaultTolerationDuration: '0s' } }),
          nodeClaim('karpenter.sh/termination'),
          config(REPAIR_ON),
        ],
        async ({ core, run }) => {
          const body = { status: { conditions: [notReady()] } };
          core.patch(NODE, { type: 'merge', body }, { subresource: 'status' });
          await run('repair', () => core.get(NODE_CLAIM).metadata.deletionTimestamp !== undefined);
        },
      ),
  },
  {
    heading: 'A pod with a grace period becomes a hold on its node',
    most: 92,
    follow: () =>
      follow([node, pod], async ({ core, run }) => {
        const annotations = { 'karpenter.sh/do-not-disrupt': '4h' };
        core.patch(POD, { type: 'merge', body: { metadata: { annotations } } });
        await run(
          'grace-period',
          () => core.get(NODE).metadata.annotations?.['karpenter.sh/do-not-disrupt'] === 'true',
        );
      }),
  },
  {
    heading: 'A HealthEvent becomes a drained node',
    most: 134,
    follow: () =>
      follow([node, pod, config(EVICT_AT_ONCE)], async ({ core, publish, run }) => {
        const detail = { id: 'e1', nodeName: 'n1', isFatal: true };
        publish({ source: 'monitor', 'detail-type': 'HealthEvent', detail });
        await run('drain', () => core.get(POD).metadata.deletionTimestamp !== undefined);
        // The kubelet has stopped it.
        core.delete(POD, { gracePeriodSeconds: 0 });
        await run('drain', () => core.get(NODE).metadata.labels?.[STATE_LABEL] === 'drain-succeeded');
      }),
  },
  {
    heading: 'The deletion of a NodeClaim becomes an ended instance',
    most: 133,
    follow: () =>
      follow(
        [node, nodePool({ disruption: { customFinalizerName: FINALIZER } }), nodeClaim(FINALIZER)],
        async ({ core, ec2Calls, run }) => {
          core.delete(NODE_CLAIM, {});
          await run('finalizer', () => ec2Calls().includes('TerminateInstancesCommand'));
        },
      ),
  },
];

const FINALIZER = 'example.com/custom';
const STATE_LABEL = 'dgxc.nvidia.com/nvsentinel-state';
const REPAIR_ON = `[featureGates]
nodeRepair = true
`;
const notReady = () => ({
  type: 'Ready',
  status: 'False',
  reason: 'KubeletNotReady',
  message: '',
  lastTransitionTime: toTimestamp(systemClock.now()),
});
const EVICT_AT_ONCE = `[[userNamespaces]]
name = "*"
mode = "Immediate"
`;

async function follow(
  objects: readonly KubernetesManifest[],
  change: (path: WholePath) => Promise<void>,
): Promise<readonly string[]> {
  const path = await startWholePath((core: ApiServerCore) => objects.forEach(object => core.seed(object)));
  try {
    await path.watch();
    return await enteredBy(() => change(path));
  } finally {
    await path.stop();
  }
}
