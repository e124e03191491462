/** What is said of finalizers that a NodeClaim gets before its deletion. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';

const FINALIZER = 'example.com/custom';
const NOW = toEpochMs(Date.UTC(2024, 10, 1, 15));

/** @param beforePatch what somebody does between the look at the NodeClaim and the write */
async function lookAtClaim(beforePatch?: (core: ReturnType<typeof createCluster>) => void): Promise<readonly string[]> {
  const core = createCluster({ now: () => NOW });
  const disruption = { customFinalizerName: FINALIZER };
  core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: { disruption } });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'nc1', uid: 'c1', labels: { 'karpenter.sh/nodepool': 'default' } },
    status: { providerID: 'aws:///us-west-2a/i-0abc', nodeName: 'n1' },
  });
  const api = createInProcessKubernetesApi(core, 'curfew:finalizer');
  const patch: KubernetesApi['patch'] = (...args) => {
    beforePatch?.(core);
    return api.patch(...args);
  };
  const said: string[] = [];
  const audit = { write: ({ reason }: { readonly reason: string }) => void said.push(reason) };
  const reconcile = createReconciler(finalizerPorts({ ...api, patch }, () => NOW, { audit }));
  const subject = { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'nc1', uid: 'c1' } as const;
  await reconcile(clusterEvent({ subject, changed: ['providerID'] }));
  return said;
}

describe('the finalizer of a pool with a custom termination', () => {
  it('is said to be on once it is', async () => {
    expect(await lookAtClaim()).toContain('FinalizerAdded');
  });

  it('is not said to be on where the NodeClaim goes before the write', async () => {
    const said = await lookAtClaim(core => {
      core.delete({ type: RESOURCES.NodeClaim, name: 'nc1' });
    });
    expect(said).not.toContain('FinalizerAdded');
  });
});
