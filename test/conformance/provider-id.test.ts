import { describe, expect, it } from 'vitest';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { createCluster } from '../../simulator/world.ts';
import { findNodeClaims } from '../../shared/cluster/owner.ts';

const NODE_POOL = 'karpenter.sh/nodepool';

/** NodeClaims by name, with their providerID and the NodePool in their labels. */
const CLAIMS: readonly [name: string, providerID: string | undefined, pool: string | undefined][] = [
  ['a', 'aws:///us-west-2a/i-a', 'default'],
  ['b', 'aws:///us-west-2a/i-b', undefined],
  ['twin-1', 'aws:///us-west-2a/i-twin', 'default'],
  ['twin-2', 'aws:///us-west-2a/i-twin', 'default'],
  ['empty', '', 'default'],
  ['launching', undefined, 'default'],
];

async function find(providerID: string | undefined): Promise<string[]> {
  const core = createCluster({ now: () => 0 });
  for (const [name, id, pool] of CLAIMS) {
    core.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, ...(pool !== undefined && { labels: { [NODE_POOL]: pool } }) },
      status: id === undefined ? {} : { providerID: id },
    });
  }
  const kubernetes = createInProcessKubernetesApi(core, 'repair');
  return (await findNodeClaims({ kubernetes }, { providerID }, 'default')).map(({ name }) => name);
}

describe('P9 the NodeClaims of an instance', () => {
  it.each([
    ['the one with its providerID', 'aws:///us-west-2a/i-a', ['a']],
    ['one without the label of the NodePool', 'aws:///us-west-2a/i-b', ['b']],
    ['both of two', 'aws:///us-west-2a/i-twin', ['twin-1', 'twin-2']],
    ['none of another instance', 'aws:///us-west-2a/i-c', []],
    ['none for an empty providerID', '', []],
    ['none for a node without one', undefined, []],
  ])('%s', async (_, providerID, names) => {
    expect(await find(providerID)).toEqual(names);
  });
});
