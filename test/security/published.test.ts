/** What leaves the cluster: of each object which one it is and which parts of it changed, never what stands in it. */
import { expect, it, onTestFinished } from 'vitest';
import { createForwarder } from '../../forwarder/forwarder.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import {
  aConfigMap,
  aDatabase,
  aFinalizerRule,
  aNode,
  aNodeClaim,
  aNodePool,
  aPod,
  aPolicy,
} from '../forwarder/builders.ts';
import { createCountingMetrics } from '../forwarder/counting-metrics.ts';
import { createFakeClusterWatch } from '../forwarder/fake-cluster-watch.ts';

const PRIVATE = 'hunter2';
const DATABASES = { group: 'example.com', version: 'v1', resource: 'manageddatabases' };
/** The annotations that are read, too: their values are looked up in the cluster. */
const ANNOTATIONS = {
  'kubectl.kubernetes.io/last-applied-configuration': `{"spec":{"env":"${PRIVATE}"}}`,
  'example.com/token': PRIVATE,
  'karpenter.sh/do-not-disrupt': PRIVATE,
  'curfew.dev/do-not-repair': PRIVATE,
  'curfew.dev/drain-requested': PRIVATE,
};

/** The object with something private in each part of it. */
function filled(object: KubernetesObject, extra: object = {}): KubernetesObject {
  const { metadata, spec = {}, status = {} } = object;
  const container = { name: 'c', image: PRIVATE, command: [PRIVATE], env: [{ name: 'PASSWORD', value: PRIVATE }] };
  const conditions = [{ type: 'Ready', status: 'False', reason: PRIVATE, message: PRIVATE }];
  return {
    ...object,
    ...extra,
    metadata: { ...metadata, annotations: ANNOTATIONS, labels: { ...metadata.labels, 'example.com/team': PRIVATE } },
    spec: { ...spec, containers: [container], taints: [{ key: 'a', value: PRIVATE, effect: 'NoSchedule' }] },
    status: { ...status, conditions, message: PRIVATE },
  };
}

it('the forwarder publishes nothing of what stands in an object', async () => {
  const clock = createManualClock();
  const kubernetes = createFakeClusterWatch();
  const published: unknown[] = [];
  const forwarder = createForwarder({
    watch: kubernetes.cluster,
    bus: {
      publish: async entries => {
        published.push(...entries);
        return entries.map(() => ({ kind: 'published' }));
      },
    },
    clock,
    metrics: createCountingMetrics().sink,
    config: { cluster: 'test' },
  });
  onTestFinished(() => forwarder.stop({ drainTimeout: seconds(0) }));
  kubernetes.add(RESOURCES.Node, aNode());
  kubernetes.setKind('ManagedDatabase', DATABASES);
  forwarder.start();
  await clock.advance(minutes(1));
  kubernetes.modify(RESOURCES.Node, filled(aNode()));
  kubernetes.add(RESOURCES.NodeClaim, filled(aNodeClaim()));
  kubernetes.add(RESOURCES.NodePool, filled(aNodePool()));
  kubernetes.add(RESOURCES.NodeLifecyclePolicy, filled(aPolicy()));
  kubernetes.add(RESOURCES.Pod, filled(aPod()));
  kubernetes.add(RESOURCES.ConfigMap, filled(aConfigMap(), { data: { 'config.toml': PRIVATE, key: PRIVATE } }));
  kubernetes.add(RESOURCES.FinalizerRule, aFinalizerRule());
  kubernetes.add(DATABASES, filled(aDatabase()));
  await clock.advance(minutes(10));
  const text = JSON.stringify(published);
  for (const kind of ['Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'Pod', 'ConfigMap', 'ManagedDatabase']) {
    expect(text).toContain(`"kind":"${kind}"`);
  }
  expect(text).not.toContain(PRIVATE);
});
