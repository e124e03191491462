/** Which NodePools a look at a node reads: those that the node may be of, whatever else the cluster has. */
import { describe, expect, it } from 'vitest';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { createRepairWorld, seedPool } from '../../fakes/repair-world.ts';

const FAULT = { type: 'GpuFault', status: 'True', toleration: '10m' };
const POOL_LABEL = 'karpenter.sh/nodepool';

/** n1 of NodePool `default`, or of another one; `other` alone says that a fault of a GPU is one. */
function aWorld({ label, claim }: { readonly label?: string; readonly claim?: string } = {}) {
  const used: string[] = [];
  const world = createRepairWorld({ ...deployedIdentity('repair'), onUse: permission => used.push(permission) });
  seedPool(world, []);
  const spec = { repair: { conditions: [FAULT] } };
  world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'other' }, spec });
  const providerID = 'aws:///us-west-2a/i-n1';
  const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'claim-n1', uid: 'claim-n1' };
  if (claim !== undefined)
    world.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'claim-n1', uid: 'claim-n1', labels: { [POOL_LABEL]: claim } },
      status: { providerID, nodeName: 'n1' },
    });
  const metadata = { ...(label !== undefined && { labels: { [POOL_LABEL]: label } }), ownerReferences: [owner] };
  world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', ...metadata }, spec: { providerID } });
  return { world, used };
}

/** Pools whose pass remembers the node. */
async function remembering(described: Parameters<typeof aWorld>[0]): Promise<readonly unknown[]> {
  const { world } = aWorld(described);
  world.setCondition('n1', 'GpuFault', 'True');
  await world.look('n1');
  return world.store.all().flatMap(({ id, state }) => (id.startsWith('node/') ? [state['pool']] : []));
}

describe('a look at a node', () => {
  it('reads the NodePool of its label alone, however many there are', async () => {
    const { world, used } = aWorld({ label: 'default', claim: 'default' });
    world.setCondition('n1', 'Ready', 'True');
    await world.look('n1');
    expect(used.filter(permission => permission.includes('nodepools'))).toEqual(['get nodepools.karpenter.sh']);
  });

  it.each([
    ['of its label', { label: 'other', claim: 'other' }, ['other']],
    ['of its label, where its NodeClaim is gone', { label: 'other' }, ['other']],
    ['of its NodeClaim, where it has no label', { claim: 'other' }, ['other']],
    ['of its NodeClaim, where its label says another', { label: 'default', claim: 'other' }, ['other']],
    ['of its NodeClaim, where that of its label is gone', { label: 'gone', claim: 'other' }, ['other']],
    ['of no other', { label: 'default', claim: 'default' }, []],
    ['of none, where that is gone', { label: 'gone', claim: 'gone' }, []],
  ])('goes by the rules of the NodePool %s', async (_, described, expected) => {
    expect(await remembering(described)).toEqual(expected);
  });
});
