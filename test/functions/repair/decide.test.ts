import { describe, expect, it } from 'vitest';
import { NEW_POOL } from '../../../functions/repair/state.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import { aCondition, aDecision, aPoolNode, aPoolOf, claimOf, someRules, T, verdictsOf } from '../../builders/repair.ts';

const OPEN = { maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' };
const DUE = addDuration(T, minutes(30));

describe('what a pool allows', () => {
  it('stops above the threshold, and counts nobody who may not be repaired', () => {
    const nodes = aPoolOf(5, 2);
    expect(verdictsOf(aDecision(nodes, { rules: someRules({ zoneOutage: 'Off', freeze: 'Off' }) }))).toEqual([
      'blocked n1 UnhealthyThreshold',
      'blocked n2 UnhealthyThreshold',
    ]);
    const [first, ...others] = nodes;
    const vetoed = first && { ...first, annotations: { 'curfew.dev/do-not-repair': 'true' } };
    const rules = someRules({ zoneOutage: 'Off', freeze: 'Off' });
    expect(verdictsOf(aDecision([...(vetoed ? [vetoed] : []), ...others], { rules }))).toEqual([
      'repair n2',
      'vetoed n1',
    ]);
  });

  it('ranks by how long they have been due, and keeps to the budget', () => {
    const rules = someRules({ ...OPEN, maxConcurrentRepairs: 1 });
    expect(verdictsOf(aDecision(aPoolOf(3, 3), { rules }))).toEqual([
      'blocked n2 ConcurrencyBudget',
      'blocked n3 ConcurrencyBudget',
      'repair n1',
    ]);
  });

  it('begins slowly after a hold, and gives back what a run that died had granted', () => {
    const nodes = aPoolOf(2, 2);
    const rules = someRules(OPEN);
    const first = aDecision(nodes, { rules, state: { ...NEW_POOL, held: ['threshold'] } });
    expect(verdictsOf(first)).toEqual(['blocked n2 RampUp', 'repair n1']);
    // The run that granted it died before its node had the intent.
    const later = aDecision(nodes, { rules, state: first.state, now: addDuration(DUE, seconds(61)) });
    expect(verdictsOf(later)).toEqual(['blocked n2 RampUp', 'repair n1']);
  });

  it('never repairs for a statement that is switched off', () => {
    const rules = someRules({ ...OPEN, policies: [{ conditionType: 'Ready', toleration: 'Never' }] });
    expect(verdictsOf(aDecision(aPoolOf(1, 1), { rules }))).toEqual([]);
  });

  it('counts no time before the node was made, and none in the future', () => {
    const made = aPoolNode('n1', aCondition('Ready', 'False', addDuration(T, minutes(-600))), { creationTime: T });
    const rules = someRules(OPEN);
    const at = (now: EpochMs) => verdictsOf(aDecision([made], { rules, now }));
    expect(at(addDuration(DUE, seconds(-1)))).toEqual(['tolerate n1']);
    expect(at(DUE)).toEqual(['repair n1']);
    const ahead = aPoolNode('n1', aCondition('Ready', 'False', addDuration(T, minutes(600))));
    expect(aDecision([ahead], { rules, now: T }).looks.map(({ time }) => time)).toEqual([DUE]);
  });

  it('leaves a node alone whose NodeClaim is not known for certain', () => {
    const [node] = aPoolOf(1, 1);
    const twice = node ? [claimOf(node), claimOf(node, { name: 'other', uid: 'uid-other' })] : [];
    expect(verdictsOf(aDecision(node ? [node] : [], { rules: someRules(OPEN), claims: twice }))).toEqual([
      'blocked n1 AmbiguousNodeClaim',
    ]);
  });
});
