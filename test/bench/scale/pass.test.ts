import { describe, expect, it } from 'vitest';
import { isIll, readsOfPass } from '../../../bench/scale/pass.ts';

describe('isIll', () => {
  it.each([
    [100, 1],
    [100, 50],
    [5000, 1000],
    [7, 7],
    [7, 0],
  ])('is so for as many of %i as asked for, %i', (nodes, ill) => {
    const found = Array.from({ length: nodes }, (_, index) => index).filter(index => isIll(index, nodes, ill));
    expect(found).toHaveLength(ill);
  });

  it('spreads them over the three zones', () => {
    const ill = Array.from({ length: 2000 }, (_, index) => index).filter(index => isIll(index, 2000, 1000));
    const zones = [...Map.groupBy(ill, index => index % 3).values()].map(({ length }) => length);
    expect(Math.max(...zones) - Math.min(...zones)).toBeLessThanOrEqual(2);
  });
});

describe('readsOfPass', () => {
  it('counts what a blocked pass reads, which does not depend on how many are ill', async () => {
    const one = await readsOfPass({ nodes: 12, ill: 1, allowed: false });
    const many = await readsOfPass({ nodes: 12, ill: 6, allowed: false });
    expect(many).toEqual({ ...one, ill: 6 });
    // Nodes, NodeClaims and the one policy; and as something is due, all nodes of the cluster with its NodePool.
    expect(one).toMatchObject({ objectsListed: 38, repaired: 0 });
  });

  it('counts the deletions of a pass that repairs', async () => {
    expect(await readsOfPass({ nodes: 6, ill: 3, allowed: true })).toMatchObject({ repaired: 3 });
  });
});
