import { describe, expect, it } from 'vitest';
import { isTerminatedForcefully } from '../../../functions/drain/observe.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { readNode } from '../../../shared/domain/node.ts';
import { createCluster } from '../../../simulator/world.ts';
import { at } from '../../builders/repair.ts';

const INSTANCE = 'aws:///us-west-2a/i-1';
const NOW = at('2024-11-01T15:00:00Z');

interface Others {
  readonly nodeName?: string;
  readonly claim?: { readonly labels?: Readonly<Record<string, string>> };
  readonly node?: boolean;
  readonly time?: string;
  readonly isDeleted?: boolean;
}

/** Of a Node whose NodeClaim has this deadline, and is being deleted unless the test says otherwise. */
async function forced({
  nodeName = 'n1',
  claim,
  node = false,
  time = '2024-11-01T14:30:00Z',
  isDeleted = true,
}: Others = {}) {
  const core = createCluster({ now: () => NOW });
  const labels = { 'karpenter.sh/nodepool': 'default' };
  const object = core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels },
    spec: { providerID: INSTANCE },
  });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: 'c1',
      labels,
      finalizers: ['example.com/hold'],
      ...(isDeleted && { deletionTimestamp: '2024-11-01T14:00:00Z' }),
      annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': time },
    },
    status: { providerID: INSTANCE, nodeName },
  });
  if (claim !== undefined) {
    const other = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', status: { providerID: INSTANCE } };
    core.seed({ ...other, metadata: { name: 'c2', ...claim } });
  }
  if (node) core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' }, spec: { providerID: INSTANCE } });
  const kubernetes = createInProcessKubernetesApi(core, 'curfew:drain');
  return isTerminatedForcefully({ kubernetes }, readNode(object), 'default', NOW);
}

describe('the termination of a NodeClaim ends the protection of pods', () => {
  it('past its deadline', async () => {
    expect(await forced()).toBe(true);
    expect(await forced({ time: '2024-11-01T15:00:01Z' })).toBe(false);
    expect(await forced({ time: 'soon' })).toBe(false);
  });

  it('not while the NodeClaim lives, whatever its annotation says', async () => {
    expect(await forced({ isDeleted: false })).toBe(false);
  });

  it.each<[string, Others]>([
    [
      'another NodeClaim of the pool states the instance',
      { claim: { labels: { 'karpenter.sh/nodepool': 'default' } } },
    ],
    ['a NodeClaim without a pool does', { claim: {} }],
    ['another Node does', { node: true }],
    ['it names another Node', { nodeName: 'n2' }],
  ])('not where %s (I6)', async (_, others) => {
    expect(await forced(others)).toBe(false);
  });
});
