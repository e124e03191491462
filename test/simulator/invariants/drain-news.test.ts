import { describe, expect, it } from 'vitest';
import { checkDrainNews } from '../../../simulator/invariants/drain-news.ts';
import { createDrainRequests, type DrainRequests } from '../../../simulator/invariants/drain-requests.ts';
import type { Check } from '../../../simulator/invariants/invariant.ts';
import { toldRepair } from '../../builders/told-repair.ts';

const FAULT = { id: 'e1', nodeName: 'n1', agent: 'monitor', componentClass: 'GPU', checkName: 'xid', isFatal: true };
const TAKEN = { function: 'drain', decision: 'take', reason: 'DrainAsked', message: '', kind: 'Node', name: 'n1' };

/** A node that is cordoned when its fault is reported, and opened by somebody a minute later. */
function openedNode() {
  let requests: DrainRequests | undefined;
  let check: Check = {};
  const one = toldRepair(context => {
    requests = createDrainRequests(context);
    check = checkDrainNews(context, requests);
    return check;
  });
  one.at(1);
  one.node({ name: 'n1', isCordoned: true });
  requests?.onBusEvent({ detailType: 'HealthEvent', detail: FAULT });
  one.at(2);
  one.node({ name: 'n1' });
  return {
    one,
    take: () => check.onAudit?.({ ...TAKEN, function: 'drain', details: { id: 'e1' } }),
    open: () => requests?.open('n1', Infinity).map(({ id }) => id),
  };
}

describe('a node that stays cordoned though its fault is over', () => {
  it.each([
    ['whole', 1],
    ['older', 0],
  ] as const)('is wrong where the table knows the end: %s', (memory, count) => {
    let requests: DrainRequests | undefined;
    const told = toldRepair(context => {
      const isEnd = (time: number): boolean => time > told0 + 90_000;
      const remembering = { ...context, memoryOf: (time: number) => (isEnd(time) ? memory : 'whole') } as const;
      const told0 = context.now();
      requests = createDrainRequests(remembering);
      return checkDrainNews(remembering, requests);
    });
    told.at(1);
    told.node({ name: 'n1', isCordoned: true, annotations: { 'curfew.dev/cordoned-by-drain': 'e1' } });
    requests?.onBusEvent({ detailType: 'HealthEvent', detail: FAULT });
    told.at(2);
    requests?.onBusEvent({ detailType: 'HealthEvent', detail: { ...FAULT, id: 'over', isHealthy: true } });
    for (const minute of [3, 60, 120]) {
      told.at(minute);
      told.look();
    }
    expect(told.found).toHaveLength(count);
  });
});

describe('a request from before somebody opened the node', () => {
  it('is over', () => {
    const { one, open } = openedNode();
    one.at(3);
    one.look();
    expect(open()).toEqual([]);
  });

  it.each([
    ['before the next look of the checks', [2.5, 3]],
    ['after it', [3.5, 3]],
  ])('counts where a drain takes it afterwards: %s', (_, [taken = 0, look = 0]) => {
    const { one, take, open } = openedNode();
    const told = [
      { minute: taken, happens: take },
      { minute: look, happens: one.look },
    ].toSorted((a, b) => a.minute - b.minute);
    for (const { minute, happens } of told) {
      one.at(minute);
      happens();
    }
    expect(open()).toEqual(['e1']);
  });
});
