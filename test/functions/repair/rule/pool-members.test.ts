/** Which nodes are of a pool, and of which of them a NodeClaim of another pool may tell. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import { nodesWithoutClaim, ownsNode } from '../../../../functions/repair/rule/pool-members.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import { aPoolNode, claimOf } from '../../../builders/repair.ts';

const NODE = aPoolNode('n1');
const OTHER = aPoolNode('n2');

describe('a node is of a pool', () => {
  it.each<[string, string | undefined, readonly NodeClaimView[], boolean]>([
    ['by its label', 'default', [], true],
    ['by a NodeClaim of the pool, whatever its label', 'gpu', [claimOf(OTHER), claimOf(NODE)], true],
    ['not by the NodeClaim of another node', 'gpu', [claimOf(OTHER)], false],
    ['not by a NodeClaim that has its name alone', 'gpu', [claimOf(NODE, { providerID: 'aws:///a/i-other' })], false],
    ['not by a NodeClaim that has its instance alone', 'gpu', [claimOf(NODE, { nodeName: 'n2' })], false],
    ['not without a pool', undefined, [], false],
  ])('%s', (_, pool, claims, isOwned) => {
    expect(ownsNode(NODE, pool, claims)).toBe(isOwned);
  });
});

describe('another pool may have the NodeClaim', () => {
  const namesOf = (
    recordedPool: string | undefined,
    claims: readonly NodeClaimView[],
    node = NODE,
  ): readonly string[] => {
    const stored = { value: newNode('n1', recordedPool), needsRewrite: false };
    const records = new Map(recordedPool === undefined ? [] : [[NODE.uid, stored]]);
    return nodesWithoutClaim('default', [node], { claims, records }).map(({ name }) => name);
  };

  it('of a node that has none here, and no record in this pool', () => {
    expect(namesOf(undefined, [])).toEqual(['n1']);
    expect(namesOf('gpu', [])).toEqual(['n1']);
    expect(namesOf(undefined, [claimOf(OTHER)])).toEqual(['n1']);
  });

  it('not of one with a NodeClaim or a record here, nor of one without an instance', () => {
    expect(namesOf(undefined, [claimOf(NODE)])).toEqual([]);
    expect(namesOf('default', [])).toEqual([]);
    expect(namesOf(undefined, [], { ...NODE, providerID: undefined })).toEqual([]);
  });
});
