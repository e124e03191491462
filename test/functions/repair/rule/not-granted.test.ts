/** Verdict and record of a due node that is not repaired in this pass. */
import { describe, expect, it } from 'vitest';
import { type DueFinding, isDueFinding } from '../../../../functions/repair/node/rule/finding.ts';
import { blockedNode, observedNode } from '../../../../functions/repair/rule/not-granted.ts';
import type { Blocker } from '../../../../functions/repair/node/rule/verdict.ts';
import type { NodeRecord } from '../../../../functions/repair/node/record.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import { at, NOW, REBOOT, remembered, TERMINATE } from '../../../builders/pool.ts';
import { aFinding, anAttempt, aPoolNode, someRepairInForce } from '../../../builders/repair.ts';

const BLOCKER: Blocker = { kind: 'ramp', reason: 'RampUp', message: 'slowly', until: at(1) };
const RANK = { order: 2, of: 3, score: 1 };
const NODE = aPoolNode('n1', undefined, { bootID: 'boot-1' });

function dueNode(more: Partial<NodeRecord> = {}, block: JsonObject = {}): DueFinding {
  const finding = aFinding(NODE, { now: NOW, repair: someRepairInForce(block), record: remembered(more) });
  if (!isDueFinding(finding)) throw new Error('the node is not due');
  return finding;
}

describe('a due node that the pool blocks', () => {
  it('says by what, and in which place, and is looked at when that may be over', () => {
    expect(blockedNode(dueNode(), BLOCKER, RANK)).toMatchObject({
      verdict: {
        kind: 'blockedByPool',
        node: { name: 'n1' },
        blocker: BLOCKER,
        dueCondition: { conditionType: 'Ready' },
        message: 'slowly',
        rank: RANK,
      },
      nextLookTime: at(1),
      state: 'idle',
      needsCleanUp: false,
    });
  });

  it('I7 gives back the deadline of an earlier attempt', () => {
    const annotation = { set: '2024-11-01T15:00:00Z', claim: { name: 'claim-n1', uid: 'uid-claim-n1' } };
    const blocked = blockedNode(dueNode({ leftovers: { annotation } }), BLOCKER, RANK);
    expect(blocked).toMatchObject({ needsCleanUp: true, record: { leftovers: { annotation } } });
    expect(blockedNode(dueNode({ leftovers: { maintenance: true } }), BLOCKER, RANK).needsCleanUp).toBe(false);
  });

  it('I7 is opened where it was drained for a reboot, and that drain counts as not taken', () => {
    const key = 'Drain before Reboot||600000';
    const attempt = anAttempt('n1', { action: 'Drain', key, time: at(-10), until: NOW, requestId: 'r1' });
    const record = { number: 1, attempt, incident: { type: 'Ready', taken: [key] } };
    const blocked = blockedNode(
      dueNode(record, { terminationGracePeriod: '10m', actions: [REBOOT, TERMINATE] }),
      BLOCKER,
      RANK,
    );
    expect(blocked).toMatchObject({
      verdict: { kind: 'blockedByPool' },
      nextLookTime: at(1),
      state: 'followed',
      needsCleanUp: true,
      record: { incident: { taken: [] }, leftovers: { drain: 'r1' } },
    });
    expect(blocked.record?.attempt).toBeUndefined();
  });
});

describe('a due node in mode Observe', () => {
  it('says what would be done, and what would follow, and is looked at every five minutes', () => {
    const finding = observedNode(dueNode({}, { actions: [REBOOT, TERMINATE] }), NOW);
    expect(finding).toMatchObject({
      verdict: {
        kind: 'wouldRepair',
        node: { name: 'n1' },
        attempt: { action: 'Reboot', number: 1, until: at(10) },
        laterActions: [{ type: 'Terminate' }],
        message: 'Ready=False since 2024-11-01T15:02:48Z, tolerated 30m0s, repair is due at 2024-11-01T15:32:48Z',
      },
      nextLookTime: at(5),
      state: 'idle',
    });
    expect(finding.record?.attempt).toBeUndefined();
  });
});
