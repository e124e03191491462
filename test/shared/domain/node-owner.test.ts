/** Whose instance a Node states: what is not certain has no owner that could be terminated. */
import { describe, expect, it } from 'vitest';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';

const node = { name: 'n1', providerID: 'aws:///us-west-2a/i-n1' };
const twin = { ...node, name: 'n1-before' };
const claim: NodeClaimView = {
  name: 'c1',
  uid: 'c1-uid',
  resourceVersion: '1',
  providerID: node.providerID,
  labels: {},
  annotations: {},
  finalizers: [],
  deletionTime: undefined,
};

describe('ownerOf', () => {
  it('finds the only NodeClaim of the instance, which names the Node or none yet', () => {
    expect(ownerOf(node, indexOwners([node], [claim]))).toEqual({ kind: 'claim', claim });
    const named = { ...claim, nodeName: 'n1' };
    expect(ownerOf(node, indexOwners([node], [named]))).toEqual({ kind: 'claim', claim: named });
  });

  it('finds none for an instance without a NodeClaim, and for a Node without an instance', () => {
    expect(ownerOf(node, indexOwners([node], []))).toMatchObject({ kind: 'none' });
    expect(ownerOf({ name: 'n1', providerID: undefined }, indexOwners([node, twin], [claim]))).toMatchObject({
      kind: 'none',
    });
  });

  it.each([
    ['with a NodeClaim', [claim]],
    ['without one', []],
  ])('is not certain where several Nodes state the instance, %s', (_, claims) => {
    const message = 'several Nodes have providerID aws:///us-west-2a/i-n1: n1, n1-before';
    for (const each of [node, twin]) {
      expect(ownerOf(each, indexOwners([node, twin], claims))).toEqual({ kind: 'ambiguous', message });
    }
  });

  it('is not certain where several NodeClaims have the instance, or the only one names another Node', () => {
    const other = { ...claim, name: 'c2' };
    expect(ownerOf(node, indexOwners([node], [claim, other]))).toMatchObject({ kind: 'ambiguous' });
    expect(ownerOf(node, indexOwners([node], [{ ...claim, nodeName: 'n2' }]))).toMatchObject({ kind: 'ambiguous' });
  });
});
