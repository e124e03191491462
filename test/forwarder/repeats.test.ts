/** A repeat reaches each function that its object is routed to, whatever changes meanwhile. */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { changedOnly, type ClusterEvent, isRepublished, leavesAlone } from '../../shared/contract/cluster-event.ts';
import { matchesPattern, ROUTES } from '../../shared/contract/routes.ts';
import { aNode } from './builders.ts';
import { aForwarder } from './running-forwarder.ts';

const tainted = (index: number) =>
  aNode({ spec: { providerID: 'aws:///us-west-2a/i-0abc', taints: [{ key: `x/${index}`, effect: 'NoSchedule' }] } });

describe('a Node whose taint flaps', () => {
  it('is published again to functions that take no notice of taints', async () => {
    const { clock, kubernetes, bus, forwarder } = aForwarder();
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(0);
    bus.events.length = 0;
    for (let turn = 0; turn < 9 * 360; turn++) {
      kubernetes.modify(RESOURCES.Node, tainted(turn % 2));
      await clock.advance(10_000);
    }
    for (const name of ['ClusterToRepair', 'ClusterToGracePeriod']) {
      const pattern = ROUTES.find(route => route.name === name)?.pattern('test');
      const arrived = bus.events.filter(
        detail =>
          pattern && matchesPattern(pattern, { source: 'curfew.forwarder', 'detail-type': 'NodeChanged', detail }),
      );
      expect(arrived.length).toBeGreaterThanOrEqual(2);
    }
  });
});

describe('a change that has met a repeat', () => {
  const plain: Pick<ClusterEvent, 'change' | 'changed'> = { change: 'Modified', changed: ['taints'] };
  const event = { ...plain, resync: true };

  it('is a change, and may be about anything', () => {
    expect([event, plain].map(isRepublished)).toEqual([false, false]);
    expect(isRepublished({ ...event, changed: [] })).toBe(true);
    expect([event, plain].map(each => leavesAlone(each, 'conditions'))).toEqual([false, true]);
    // The first list names the parts of each object.
    expect(leavesAlone({ ...event, change: 'Added' }, 'conditions')).toBe(true);
    expect([event, plain].map(each => changedOnly(each, new Set(['taints'])))).toEqual([false, true]);
  });
});
