/** The facts of the pool by which each of its nodes is judged. */
import { expect, it } from 'vitest';
import { someFacts } from '../../../builders/pool-facts.ts';
import { aPoolNode, someRepairInForce } from '../../../builders/repair.ts';
import { judgeNode } from '../../../../functions/repair/node/decide.ts';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import type { JudgeContext } from '../../../../functions/repair/node/rule/node-facts.ts';
import { judgePool } from '../../../../functions/repair/rule/judged-pool.ts';
import type { PoolFacts } from '../../../../functions/repair/rule/pool-facts.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';

const NODE = aPoolNode('n1');
const NODE_POOL: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default', uid: 'uid-default', resourceVersion: '1', creationTimestamp: '2024-11-01T12:00:00Z' },
};

function contextOf(given: Partial<PoolFacts>): JudgeContext {
  let seen: JudgeContext | undefined;
  judgePool(someFacts([NODE], given), (context, node, record) => {
    seen = context;
    return judgeNode(context, node, record);
  });
  if (seen === undefined) throw new Error('no node was judged');
  return seen;
}

it('say which nodes no event has named, once a pass has looked at all', () => {
  const { requests } = someFacts([]);
  const named = { ...requests, uids: new Set(['uid-n1']) };
  const isUnprompted = (given: Partial<PoolFacts>): readonly (boolean | undefined)[] =>
    ['uid-n1', 'uid-n2'].map(uid => contextOf({ requests: named, ...given }).isUnprompted?.(uid));
  expect(isUnprompted({ hadPoolRecord: true })).toEqual([false, true]);
  expect(isUnprompted({ hadPoolRecord: false })).toEqual([undefined, undefined]);
  const afterChange = { ...named, isAfterSettingsChange: true };
  expect(isUnprompted({ hadPoolRecord: true, requests: afterChange })).toEqual([undefined, undefined]);
});

it('say whose custom resource is there', () => {
  const stored = { value: newNode('n1', 'default'), needsRewrite: false, isMade: true };
  const { isMade } = contextOf({ records: new Map([['uid-n1', stored]]) });
  expect(['uid-n1', 'uid-n2'].map(isMade)).toEqual([true, false]);
});

it('say whether the NodePool is gone', () => {
  const isGone = (pool: string | undefined, nodePool: KubernetesObject | undefined): boolean =>
    contextOf({ pool, poolSettings: { repair: someRepairInForce(), nodePool } }).isPoolGone;
  expect(isGone('default', undefined)).toBe(true);
  expect(isGone('default', NODE_POOL)).toBe(false);
  expect(isGone(undefined, undefined)).toBe(false);
});
