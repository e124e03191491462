/** What becomes of what is remembered of a node, once its Node is gone. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import { judgeGone } from '../../../../../functions/repair/node/rule/attempt-verdict.ts';
import type { NodeRecord, RepairLeftovers } from '../../../../../functions/repair/node/record.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import { addDuration, type EpochMs, minutes, seconds, toDurationMs } from '../../../../../shared/domain/time.ts';
import { anAttempt, aPoolNode, checked, claimOf, T } from '../../../../builders/repair.ts';

const ACTED = addDuration(T, minutes(30));
/** Minutes from the act; its termination has an hour. */
const at = (minute: number): EpochMs => addDuration(ACTED, toDurationMs(minute * 60_000));
const NODE = aPoolNode('n1');
const GOING = claimOf(NODE, { deletionTime: at(0) });
const TERMINATE = anAttempt('n1', { time: ACTED });
const INTENDED = { ...TERMINATE, phase: 'intended' } as const;
const DRAIN = anAttempt('n1', { action: 'Drain', key: 'Drain||1200000', requestId: 'r1', time: ACTED });
const OURS: RepairLeftovers = { resources: [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n1', uid: 'f1' }] };

const remembered = (more: Partial<NodeRecord> = {}): NodeRecord => ({ ...newNode('n1', 'default'), ...more });
const judge = (record: NodeRecord, minute: number, ...claims: readonly NodeClaimView[]) =>
  checked(judgeGone('uid-n1', record, { now: at(minute), claims: new Map(claims.map(claim => [claim.uid, claim])) }));

const CLOSED = {
  kind: 'gone',
  node: { name: 'n1', uid: 'uid-n1' },
  record: undefined,
  verdict: { kind: 'gone', node: { name: 'n1', uid: 'uid-n1' }, message: 'the node is gone, its incident is closed' },
  state: 'idle',
  nextLookTime: undefined,
};

describe('is closed', () => {
  it.each<[string, NodeRecord, readonly NodeClaimView[], boolean, readonly object[]]>([
    ['where nothing was under way', remembered(), [], false, []],
    ['where nothing was under way, and what is ours is taken back', remembered({ leftovers: OURS }), [], true, []],
    ['once its NodeClaim is gone too', remembered({ attempt: TERMINATE }), [], false, []],
    [
      'where its NodeClaim stays, and is not being deleted',
      remembered({ attempt: TERMINATE }),
      [claimOf(NODE)],
      false,
      [],
    ],
    [
      'where its instance ended without a NodeClaim, although another one goes',
      remembered({ attempt: anAttempt('n1', { claim: undefined }) }),
      [GOING],
      false,
      [],
    ],
    ['after a drain, although its NodeClaim is going', remembered({ attempt: DRAIN }), [GOING], false, []],
    [
      'after a drain that no run has reported, which is said and taken back',
      remembered({ attempt: { ...DRAIN, phase: 'intended' } }),
      [GOING],
      true,
      [{ kind: 'lost', attempt: { action: 'Drain' } }],
    ],
    [
      'after a termination that no run has reported, which is said',
      remembered({ attempt: INTENDED }),
      [],
      true,
      [{ kind: 'lost', attempt: { action: 'Terminate', number: 1 } }],
    ],
  ])('%s', (_, record, claims, needsCleanUp, unreported) => {
    const gone = judge(record, 5, ...claims);
    expect(gone).toMatchObject({ ...CLOSED, needsCleanUp });
    expect(gone.unreported).toHaveLength(unreported.length);
    expect(gone.unreported).toMatchObject(unreported);
  });
});

describe('is followed', () => {
  it('I4 until the run is over that may have terminated it', () => {
    const record = remembered({ attempt: INTENDED });
    const early = judgeGone('uid-n1', record, { now: addDuration(ACTED, seconds(59)), claims: new Map() });
    expect(early).toMatchObject({ record, nextLookTime: at(1), state: 'followed', verdict: undefined, unreported: [] });
    expect(judge(record, 1).record).toBeUndefined();
    // An act that was accepted has no such run.
    expect(judge(remembered({ attempt: TERMINATE }), 0.5)).toMatchObject(CLOSED);
  });

  it('while its NodeClaim is going, every five minutes and when the time of the termination is over', () => {
    const record = remembered({ attempt: TERMINATE });
    const early = judge(record, 10, GOING);
    expect(early).toMatchObject({
      record,
      nextLookTime: at(15),
      state: 'followed',
      verdict: undefined,
      unreported: [],
    });
    expect(judge(record, 58, GOING).nextLookTime).toBe(at(60));
  });

  it('with the outcome that no run has reported, while its NodeClaim is going', () => {
    expect(judge(remembered({ attempt: INTENDED }), 10, GOING)).toMatchObject({
      record: { attempt: { phase: 'accepted' }, acts: [{ action: 'Terminate' }] },
      unreported: [{ kind: 'lost', attempt: { phase: 'intended' } }],
      state: 'followed',
    });
  });

  it.each<[string, readonly string[], string]>([
    ['the finalizer', ['karpenter.sh/termination'], 'held by finalizer karpenter.sh/termination on the NodeClaim'],
    ['every finalizer', ['a/b', 'c/d'], 'held by finalizer a/b on the NodeClaim, c/d on the NodeClaim'],
    ['that there is none', [], 'no finalizer holds it'],
  ])('as stuck from then on, which says %s', (_, finalizers, words) => {
    const record = remembered({ attempt: TERMINATE });
    expect(judge(record, 60, { ...GOING, finalizers })).toMatchObject({
      record,
      verdict: {
        kind: 'stuckWithoutNode',
        node: { name: 'n1', uid: 'uid-n1' },
        attempt: { number: 1 },
        claim: { name: 'claim-n1', uid: 'uid-claim-n1' },
        message: `its termination was begun at 2024-11-01T15:32:48Z, its Node is gone, and it is not over: ${words}`,
      },
      nextLookTime: at(65),
      state: 'followed',
    });
  });
});
