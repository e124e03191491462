/** kube-apiserver itself, against the contracts that the embedded API server is held to. */
import { afterAll, beforeAll, describe } from 'vitest';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { defineClusterWatchContract } from '../contract/cluster-watch.contract.ts';
import { defineKubernetesApiContract } from '../contract/kubernetes-api.contract.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { configMap, created, NAMESPACES, type KubernetesSubject } from '../contract/kubernetes-subject.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

let namespaces = 0;

/** The admin's view of a control plane, each test in a namespace of its own. */
function subjects(options: Parameters<typeof startControlPlane>[0]) {
  let plane: ControlPlane | undefined;
  let transport: Transport | undefined;
  beforeAll(async () => {
    plane = await startControlPlane({
      ...options,
      users: [{ name: 'contract', groups: ['system:masters'] }],
      log: line => process.stderr.write(`${line}\n`),
    });
    const { kubernetes, etcd, karpenter } = plane.versions;
    process.stdout.write(`kube-apiserver ${kubernetes}, etcd ${etcd}, Karpenter CRDs ${karpenter}\n`);
    const token = plane.tokenFor('contract');
    transport = createTransport({
      server: plane.url,
      clock: systemClock,
      userAgent: 'contract',
      tls: { ca: plane.caPem },
      authenticator: { headers: async () => ({ authorization: `Bearer ${token}` }), invalidate: () => undefined },
    });
  });
  afterAll(async () => {
    transport?.close();
    await plane?.stop();
  });
  return async (): Promise<KubernetesSubject & { compact: () => Promise<void> }> => {
    if (transport === undefined || plane === undefined) throw new Error('not started');
    const running = plane;
    const api = createKubernetesApi(transport);
    const namespace = `test-${(namespaces += 1)}`;
    await created(api, NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    return {
      api,
      watch: createClusterWatch(transport),
      namespace,
      // etcd forgets what comes before its newest revision: that must be a later one than the test's own last write.
      compact: async () => {
        await created(api, RESOURCES.ConfigMap, configMap(namespace, 'last-write'));
        await running.compact();
      },
    };
  };
}

describe('kube-apiserver', () => {
  const makeSubject = subjects({});
  // The watch cache answers from versions that etcd has forgotten, so nothing can be made too old here.
  const withoutCompaction = async (): Promise<KubernetesSubject> => {
    const { api, watch, namespace } = await makeSubject();
    return { api, watch, namespace };
  };
  defineKubernetesApiContract('kube-apiserver', withoutCompaction);
  defineClusterWatchContract('kube-apiserver', withoutCompaction);
});

describe('kube-apiserver without its watch cache', () => {
  const makeSubject = subjects({ watchCache: false });
  defineClusterWatchContract('kube-apiserver without its watch cache', async () => ({
    ...(await makeSubject()),
    bookmarks: false,
  }));
});
