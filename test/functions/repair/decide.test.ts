import { describe, expect, it } from 'vitest';
import { NEW_POOL } from '../../../functions/repair/pool-record.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import {
  aCondition,
  aDecision,
  aPoolNode,
  aPoolOf,
  claimOf,
  someRepairInForce,
  T,
  verdictsOf,
} from '../../builders/repair.ts';

const OPEN = { maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' };
const DUE = addDuration(T, minutes(30));

describe('what a pool allows', () => {
  it('stops above the threshold, and counts nobody who may not be repaired', () => {
    const nodes = aPoolOf(5, 2);
    expect(verdictsOf(aDecision(nodes, { repair: someRepairInForce({ zoneOutage: 'Off', freeze: 'Off' }) }))).toEqual([
      'blocked n1 UnhealthyThreshold',
      'blocked n2 UnhealthyThreshold',
    ]);
    const [first, ...others] = nodes;
    const vetoed = first && { ...first, annotations: { 'curfew.dev/do-not-repair': 'true' } };
    const repair = someRepairInForce({ zoneOutage: 'Off', freeze: 'Off' });
    expect(verdictsOf(aDecision([...(vetoed ? [vetoed] : []), ...others], { repair }))).toEqual([
      'repair n2',
      'vetoed n1',
    ]);
  });

  it('ranks by how long they have been due, and keeps to the budget', () => {
    const repair = someRepairInForce({ ...OPEN, maxConcurrentRepairs: 1 });
    expect(verdictsOf(aDecision(aPoolOf(3, 3), { repair }))).toEqual([
      'blocked n2 ConcurrencyBudget',
      'blocked n3 ConcurrencyBudget',
      'repair n1',
    ]);
  });

  it('begins slowly after a guard has ended, and gives back what a run that died had granted', () => {
    const nodes = aPoolOf(2, 2);
    const repair = someRepairInForce(OPEN);
    const first = aDecision(nodes, { repair, poolRecord: { ...NEW_POOL, blockingGuards: ['threshold'] } });
    expect(verdictsOf(first)).toEqual(['blocked n2 RampUp', 'repair n1']);
    // The run that granted it died before its node had the intent.
    const later = aDecision(nodes, { repair, poolRecord: first.poolRecord, now: addDuration(DUE, seconds(61)) });
    expect(verdictsOf(later)).toEqual(['blocked n2 RampUp', 'repair n1']);
  });

  it('never repairs for a repair condition that is switched off', () => {
    const repair = someRepairInForce({ ...OPEN, policies: [{ conditionType: 'Ready', toleration: 'Never' }] });
    expect(verdictsOf(aDecision(aPoolOf(1, 1), { repair }))).toEqual([]);
  });

  it('counts no time before the node was made, and none in the future', () => {
    const made = aPoolNode('n1', aCondition('Ready', 'False', addDuration(T, minutes(-600))), { creationTime: T });
    const repair = someRepairInForce(OPEN);
    const at = (now: EpochMs) => verdictsOf(aDecision([made], { repair, now }));
    expect(at(addDuration(DUE, seconds(-1)))).toEqual(['tolerate n1']);
    expect(at(DUE)).toEqual(['repair n1']);
    const ahead = aPoolNode('n1', aCondition('Ready', 'False', addDuration(T, minutes(600))));
    expect(aDecision([ahead], { repair, now: T }).findings.map(each => each.nextLookTime)).toEqual([DUE]);
  });

  it('leaves a node alone whose NodeClaim is not known for certain', () => {
    const [node] = aPoolOf(1, 1);
    const twice = node ? [claimOf(node), claimOf(node, { name: 'other', uid: 'uid-other' })] : [];
    expect(verdictsOf(aDecision(node ? [node] : [], { repair: someRepairInForce(OPEN), claims: twice }))).toEqual([
      'blocked n1 AmbiguousNodeClaim',
    ]);
  });

  it('then goes to those that fare worse, then by name', () => {
    const repair = someRepairInForce({ ...OPEN, maxConcurrentRepairs: 2 });
    const sick = aCondition('Ready', 'False', T);
    const worse = aPoolNode('z', sick, { conditions: [sick, aCondition('StorageReady', 'False', T)] });
    expect(verdictsOf(aDecision([aPoolNode('b'), aPoolNode('a'), worse], { repair }))).toEqual([
      'blocked b ConcurrencyBudget',
      'repair a',
      'repair z',
    ]);
  });

  it.each([
    ['1%', 1],
    ['25%', 1],
    ['26%', 2],
    ['100%', 4],
    [0, 0],
  ])('%j of four nodes are %i', (maxConcurrentRepairs, expected) => {
    const repair = someRepairInForce({ ...OPEN, maxConcurrentRepairs });
    expect(aDecision(aPoolOf(4, 4), { repair }).granted).toHaveLength(expected);
  });

  it('acts on a hundred nodes in one pass, and the next one follows a second later', () => {
    const now = addDuration(T, minutes(300));
    const { granted, wakeTime, findings } = aDecision(aPoolOf(101, 101), { now, repair: someRepairInForce(OPEN) });
    const later = addDuration(now, seconds(1));
    expect(granted).toHaveLength(100);
    expect(wakeTime).toBe(later);
    expect(findings.at(-1)).toMatchObject({
      nextLookTime: later,
      verdict: { kind: 'due' },
      state: 'idle',
      needsCleanUp: false,
    });
  });

  it('has five thousand in flight at most, and says so of the rest', () => {
    const inFlight = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`uid-${index}`, DUE]));
    const others = Array.from({ length: 5_000 }, (_, index) =>
      aPoolNode(`o${index}`, aCondition('Ready', 'True', addDuration(T, minutes(-600))), { uid: `uid-${index}` }),
    );
    const poolRecord = { ...NEW_POOL, inFlight };
    const given = { repair: someRepairInForce(OPEN), poolRecord, now: addDuration(DUE, seconds(10)) };
    expect(verdictsOf(aDecision([...aPoolOf(1, 1), ...others], given))).toEqual(['blocked n1 ConcurrencyBudget']);
  });

  it('after an outage is 1, 2, 4 … repairs a minute', () => {
    const repair = someRepairInForce({ maxUnhealthy: '100%', zoneOutage: 'Off' });
    const dark = aPoolOf(7, 7).map(node => ({ ...node, conditions: [aCondition('Ready', 'Unknown', T)] }));
    let { poolRecord } = aDecision(dark, { repair });
    expect(poolRecord.blockingGuards).toEqual(['cluster']);
    let nodes = dark.map(node => ({ ...node, conditions: [aCondition('Ready', 'False', T)] }));
    const begun: number[] = [];
    for (let now: EpochMs = DUE; now < DUE + minutes(3); now = addDuration(now, seconds(20))) {
      const decision = aDecision(nodes, { repair, poolRecord, now });
      const names = decision.granted.map(({ finding }) => finding.node.name);
      begun.push(names.length);
      nodes = nodes.filter(({ name }) => !names.includes(name));
      ({ poolRecord } = decision);
    }
    expect(begun).toEqual([1, 0, 0, 2, 0, 0, 4, 0, 0]);
  });
});
