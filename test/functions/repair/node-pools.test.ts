/** Which pool has a node that is remembered, and is not among those of its own any more. */
import { describe, expect, it } from 'vitest';
import { readMissing } from '../../../functions/repair/node-pools.ts';
import { newNode } from '../../../functions/repair/node/rule/attempt.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createCluster } from '../../../simulator/world.ts';
import { NOW } from '../../builders/pool.ts';

const POOL_LABEL = 'karpenter.sh/nodepool';
const OWN = 'aws:///us-west-2a/i-own';

/** n1 is labelled with pool `other`; a NodeClaim of pool `default` names it, and states this instance. */
async function poolOfNodeWith(providerID: string): Promise<unknown> {
  const core = createCluster({ now: () => NOW });
  const labels = { [POOL_LABEL]: 'other' };
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'uid-n1', labels },
    spec: { providerID: OWN },
  });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'nc1', labels: { [POOL_LABEL]: 'default' } },
    status: { providerID, nodeName: 'n1' },
  });
  const deps = { kubernetes: createInProcessKubernetesApi(core, 'curfew:repair') };
  const { elsewhere } = await readMissing(deps, 'gone', [
    ['uid-n1', { needsRewrite: false, value: newNode('n1', 'gone') }],
  ]);
  return elsewhere.map(({ pool }) => pool);
}

describe('a node that its pool remembers, and has no more', () => {
  it('is of the pool of its NodeClaim', async () => {
    expect(await poolOfNodeWith(OWN)).toEqual(['default']);
  });

  it('is not of the pool of a NodeClaim that names it, and is of another instance (I10)', async () => {
    expect(await poolOfNodeWith('aws:///us-west-2a/i-before')).toEqual(['other']);
  });
});
