/** Which nodes of a pool count as in flight, and which grants of a run that died are given back to the ramp. */
import { describe, expect, it } from 'vitest';
import {
  begunTime,
  nodesInFlight,
  type NodeFinding,
  type PresentNode,
} from '../../../../functions/repair/node/rule/finding.ts';
import { countUndoneGrants } from '../../../../functions/repair/rule/ramp.ts';
import type { Attempt } from '../../../../functions/repair/node/attempt-record.ts';
import { NEW_POOL, type PoolRecord } from '../../../../functions/repair/pool-record.ts';
import { at, NOW, remembered } from '../../../builders/pool.ts';
import { aFinding, anAttempt, aPoolNode } from '../../../builders/repair.ts';

const FOUND = aFinding(aPoolNode('n1'), { now: NOW });
const NAME = { name: 'n1', uid: 'uid-n1' };
const GONE: NodeFinding = { ...FOUND, kind: 'gone', node: NAME, verdict: { kind: 'gone', node: NAME, message: '' } };
const EXHAUSTED: NodeFinding = { ...FOUND, verdict: { kind: 'exhausted', node: NAME, message: '' } };
const begunAt = (minute: number): PoolRecord => ({ ...NEW_POOL, inFlight: { 'uid-n1': at(minute) } });
const others = (minute: number): PresentNode => ({ ...FOUND, otherWorkTime: at(minute) });

describe('a node', () => {
  it.each<[string, NodeFinding, PoolRecord, boolean]>([
    ['counts while its attempt is under way', { ...FOUND, state: 'inFlight' }, NEW_POOL, true],
    ['does not count where nothing is', FOUND, NEW_POOL, false],
    ['counts while a run may be at work on it', FOUND, begunAt(-0.9), true],
    ['does not count once that run must be over', FOUND, begunAt(-1), false],
    ['does not count where nothing is left that a run could do', EXHAUSTED, begunAt(-0.5), false],
    ['does not count once it is gone', GONE, begunAt(-0.5), false],
    ["does not count by a slot that is another controller's", others(-0.5), begunAt(-0.5), false],
    ['does not count by one that is older than the work of another', others(-0.4), begunAt(-0.5), false],
    ['counts by a slot that a run took after another had begun', others(-0.6), begunAt(-0.5), true],
  ])('%s', (_, finding, state, expected) => {
    expect([...nodesInFlight([finding], state, NOW)]).toEqual(expected ? ['uid-n1'] : []);
  });

  it('is known to be acted upon since its slot was taken', () => {
    expect(begunTime(FOUND, begunAt(-7))).toBe(at(-7));
    expect(begunTime(FOUND, NEW_POOL)).toBeUndefined();
  });
});

describe('a grant of the ramp', () => {
  const withAttempt = (phase: Attempt['phase']): NodeFinding => ({
    ...FOUND,
    record: remembered({ attempt: anAttempt('n1', { phase }) }),
  });
  it.each<[string, NodeFinding, number, number]>([
    ['is given back once its run must be over and nothing was done', FOUND, -1, 1],
    ['is given back of a run of which nothing is remembered', { ...FOUND, record: undefined }, -1, 1],
    ['is given back where the act was only intended', withAttempt('intended'), -1, 1],
    ['is used while its run may be at work', FOUND, -0.9, 0],
    ['is used where the act was accepted', withAttempt('accepted'), -1, 0],
    ['is used while the act is under way', { ...FOUND, state: 'inFlight' }, -1, 0],
    ['is given back that its step began with', FOUND, -5, 1],
    ['of an earlier step is none of this one', FOUND, -5.1, 0],
  ])('%s', (_, finding, begun, undone) => {
    const ramp = { step: 1, stepTime: at(-5), granted: 2 };
    expect(countUndoneGrants([finding], { ...begunAt(begun), ramp }, NOW)).toBe(undone);
  });

  it('is none without a ramp, and none at a node that no run chose', () => {
    expect(countUndoneGrants([FOUND], begunAt(-1), NOW)).toBe(0);
    expect(countUndoneGrants([FOUND], { ...NEW_POOL, ramp: { step: 1, stepTime: at(-5), granted: 2 } }, NOW)).toBe(0);
  });
});
