/** A node at which nothing is to be done: when it is looked at again, what is said and remembered of it, what is taken back. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import type { Act, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { addDuration, type EpochMs, minutes, toDurationMs, toTimestamp } from '../../../../../shared/domain/time.ts';
import {
  aCondition,
  aFinding,
  aPoolNode,
  claimOf,
  type Look,
  SICK,
  someRepairInForce,
  T,
} from '../../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
/** Minutes from now; negative: before. */
const at = (minute: number): EpochMs => addDuration(NOW, toDurationMs(minute * 60_000));
const NODE = aPoolNode('n1');
const WELL = aPoolNode('n1', aCondition('Ready', 'True', at(-60)));
const vetoed = (value: string): NodeView => ({ ...NODE, annotations: { 'curfew.dev/do-not-repair': value } });
const TIMELESS: NodeView = { ...NODE, conditions: [{ ...SICK, lastTransitionTime: undefined }] };
const STOPPED: NodeView = { ...NODE, taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }] };
const TAINTS = [{ key: 'curfew.dev/reserved', value: '' }];
const RESERVED: NodeView = { ...NODE, taints: TAINTS };
const CLOSED = someRepairInForce({}, { gateOpen: false });
const NO_BLOCK = someRepairInForce({}, { settings: undefined });
const TYPO = someRepairInForce({}, { settings: { invalid: 'a typo' } });
const WEEKLY = someRepairInForce({ actions: [{ type: 'Reboot', attempts: 1, within: '168h' }] });
const FLAPPING = someRepairInForce({ flapping: { window: '2h', unhealthyFor: '20m' } });
const GOING = claimOf(NODE, {
  deletionTime: T,
  annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:02:48Z' },
});

const remembered = (more: Partial<NodeRecord> = {}): NodeRecord => ({ ...newNode('n1', 'default'), ...more });
const ONSETS = { onsets: { 'Ready=False': { start: T, stated: T } } };

/** Minutes until the next look; undefined: when something changes. */
const nextLook = (node: NodeView, look: Look): number | undefined => {
  const { nextLookTime } = aFinding(node, look);
  return nextLookTime && (nextLookTime - NOW) / 60_000;
};

describe('is looked at again', () => {
  it.each<[string, NodeView, Look, number | undefined]>([
    ['when its toleration is over', aPoolNode('n1', aCondition('Ready', 'False', at(-10))), {}, 20],
    ['after five minutes under a veto', vetoed('true'), {}, 5],
    ['when the veto ends before', vetoed(toTimestamp(at(2))), {}, 2],
    ['after five minutes where the veto lasts longer', vetoed(toTimestamp(at(10))), {}, 5],
    [
      'after a minute while somebody else is at work on it',
      NODE,
      { externalRequests: new Map([['n1', 'a Lease']]) },
      1,
    ],
    ['after five minutes without a NodeClaim', NODE, { claims: [] }, 5],
    [
      'after five minutes where two NodeClaims state its instance',
      NODE,
      { claims: [claimOf(NODE), claimOf(NODE, { name: 'other', uid: 'other' })] },
      5,
    ],
    ['after five minutes while its NodeClaim goes forcefully', NODE, { claims: [GOING] }, 5],
    ['after five minutes while its instance is stopped', STOPPED, {}, 5],
    ['after an hour where its block cannot be read', NODE, { repair: TYPO }, 60],
    ['after an hour where its condition states no time', TIMELESS, {}, 60],
    ['only when it changes while the gate is closed', NODE, { repair: CLOSED }, undefined],
    ['only when it changes where no block applies', NODE, { repair: NO_BLOCK }, undefined],
    ['only when it changes while it is well', WELL, {}, undefined],
    [
      'when its last unhealthy time leaves the window of `flapping`',
      WELL,
      {
        repair: FLAPPING,
        record: remembered({
          episodes: [
            { startTime: at(-110), endTime: at(-100) },
            { startTime: at(-80), endTime: at(-70) },
            { startTime: at(-60), endTime: at(-50) },
          ],
        }),
      },
      70,
    ],
    ['only when it changes where it had no unhealthy time', WELL, { repair: FLAPPING }, undefined],
    [
      'only when it changes where the block went that counted its unhealthy times',
      WELL,
      { repair: NO_BLOCK, record: remembered({ episodes: [{ startTime: at(-60), endTime: at(-50) }] }) },
      undefined,
    ],
  ])('%s', (_, node, look, expected) => {
    expect(nextLook(node, look)).toBe(expected);
  });
});

describe('says', () => {
  it.each<[string, NodeView, Look, object | undefined]>([
    ['that it is tolerated', aPoolNode('n1', aCondition('Ready', 'False', at(-10))), {}, { kind: 'tolerate' }],
    [
      'that it is vetoed, and by whom',
      vetoed('true'),
      {},
      { kind: 'vetoed', message: expect.stringMatching(/^Ready=False since .*; .*do-not-repair/) },
    ],
    [
      'whose NodeClaim is going',
      NODE,
      { claims: [GOING] },
      { kind: 'finishing', message: 'NodeClaim claim-n1 is being terminated' },
    ],
    ['what is wrong with its block', NODE, { repair: TYPO }, { kind: 'refuse', message: 'a typo' }],
    ['that its condition states no time', TIMELESS, {}, { kind: 'ignore', reason: 'NoTransitionTime' }],
    [
      'that its instance is stopped',
      STOPPED,
      {},
      {
        kind: 'ignore',
        reason: 'InstanceStopped',
        message: expect.stringMatching(/^Ready=False since .*; its instance is stopped, as somebody wants it$/),
      },
    ],
    [
      'that the gate is closed, while it is unhealthy',
      NODE,
      { repair: CLOSED },
      { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' },
    ],
    [
      'that no block applies, while it is unhealthy as the provider sees it',
      NODE,
      { repair: NO_BLOCK },
      { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' },
    ],
    [
      'that the gate is closed, while it is unhealthy by a condition of the user alone',
      { ...WELL, conditions: [...WELL.conditions, aCondition('Disk', 'True')] },
      {
        repair: someRepairInForce(
          { conditions: [{ type: 'Disk', status: 'True', toleration: '5m' }] },
          { gateOpen: false },
        ),
      },
      { kind: 'ignore', reason: 'GateOff' },
    ],
    ['nothing of a well one while the gate is closed', WELL, { repair: CLOSED }, undefined],
    ['nothing of a well one where no block applies', WELL, { repair: NO_BLOCK }, undefined],
    ['nothing of a well replacement that is not in use yet', { ...WELL, taints: TAINTS }, {}, undefined],
    [
      'once that an ill node is the replacement of another one',
      RESERVED,
      { record: remembered(ONSETS) },
      { kind: 'ignore', reason: 'NotInUse' },
    ],
    ['nothing of one that was well before', WELL, { record: remembered() }, undefined],
    [
      'once that it is well again',
      WELL,
      { record: remembered(ONSETS) },
      { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' },
    ],
  ])('%s', (_, node, look, expected) => {
    const { verdict } = aFinding(node, look);
    if (expected === undefined) expect(verdict).toBeUndefined();
    else expect(verdict).toMatchObject({ ...expected, node: { name: 'n1', uid: 'uid-n1' } });
  });
});

describe('is remembered once it is well', () => {
  const act = (time: EpochMs): Act => ({ key: 'Reboot||600000', action: 'Reboot', time });
  const day = 24 * 60;
  it.each<[string, boolean, NodeView, Look]>([
    ['not, where nothing was done', false, WELL, { record: remembered(ONSETS) }],
    ['while its incident lasts', true, WELL, { record: remembered({ incident: { type: 'Ready', taken: ['a'] } }) }],
    [
      'not, where its incident had no action',
      false,
      WELL,
      { record: remembered({ incident: { type: 'R', taken: [] } }) },
    ],
    ['while something of ours stands', true, WELL, { record: remembered({ leftovers: { drain: 'r1' } }) }],
    [
      'while `flapping` counts an unhealthy time',
      true,
      WELL,
      { repair: FLAPPING, record: remembered({ episodes: [{ startTime: at(-60), endTime: at(-50) }] }) },
    ],
    ['with its clocks, as a replacement that is not in use yet', true, RESERVED, { record: remembered() }],
    ['for a day after an act', true, WELL, { record: remembered({ acts: [act(at(1 - day))] }) }],
    ['not, a day after its act', false, WELL, { record: remembered({ acts: [act(at(-day))] }) }],
    ['for a day after its last act', true, WELL, { record: remembered({ acts: [act(at(-day)), act(at(0))] }) }],
    [
      'for as long as its list counts an act',
      true,
      WELL,
      { repair: WEEKLY, record: remembered({ acts: [act(at(-3 * day))] }) },
    ],
    ['not, once nothing counts it', false, WELL, { repair: WEEKLY, record: remembered({ acts: [act(at(-7 * day))] }) }],
    [
      'for an hour after something was said',
      true,
      WELL,
      { record: remembered({ reported: { code: 'a', time: at(-59), times: {} } }) },
    ],
    [
      'not, an hour after it was said',
      false,
      WELL,
      { record: remembered({ reported: { code: 'a', time: at(-60), times: {} } }) },
    ],
  ])('%s', (_, expected, node, look) => {
    expect(aFinding(node, look).record !== undefined).toBe(expected);
  });

  it('or cannot be repaired, while it is unhealthy', () => {
    for (const repair of [CLOSED, NO_BLOCK, TYPO]) {
      expect(aFinding(NODE, { repair, record: remembered(ONSETS) }).record).toMatchObject(ONSETS);
    }
    expect(aFinding(STOPPED, { record: remembered(ONSETS) }).record).toMatchObject(ONSETS);
    expect(aFinding(TIMELESS, { record: remembered() }).record).toMatchObject({ name: 'n1' });
  });
});

describe('I7 has what is ours taken back', () => {
  const drain = { leftovers: { drain: 'r1' } };
  const annotation = { leftovers: { annotation: { claim: { name: 'c', uid: 'u' }, set: '2024-11-01T15:02:48Z' } } };
  const resources = {
    leftovers: { resources: [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n1', uid: 'f1' }] },
  };
  it.each<[string, boolean, NodeView, Look]>([
    ['once it is well', true, WELL, { record: remembered(drain) }],
    ['not, where there is nothing', false, WELL, { record: remembered(ONSETS) }],
    ['while the gate is closed', true, NODE, { repair: CLOSED, record: remembered(resources) }],
    ['where no block applies any more', true, NODE, { repair: NO_BLOCK, record: remembered(resources) }],
    ['while its instance is stopped', true, STOPPED, { record: remembered(resources) }],
    ['a drain at once where the block cannot be read', true, NODE, { repair: TYPO, record: remembered(drain) }],
    ['a deadline at once where the block cannot be read', true, NODE, { repair: TYPO, record: remembered(annotation) }],
    ['nothing else where the block cannot be read', false, NODE, { repair: TYPO, record: remembered(resources) }],
    ['no drain while its condition states no time', false, TIMELESS, { record: remembered(drain) }],
    [
      'a deadline while it is tolerated',
      true,
      aPoolNode('n1', aCondition('Ready', 'False', NOW)),
      { record: remembered(annotation) },
    ],
    ['a deadline not while it is due, where it is used again', false, NODE, { record: remembered(annotation) }],
    ['no drain while it is due', false, NODE, { record: remembered(drain) }],
  ])('%s', (_, expected, node, look) => {
    expect(aFinding(node, look).needsCleanUp).toBe(expected);
  });

  it('of a healthy node keeps nothing but what is to be taken back', () => {
    const { record, state, unreported } = aFinding(WELL, { record: remembered(drain) });
    expect(record).toMatchObject(drain);
    expect({ state, unreported }).toEqual({ state: 'idle', unreported: [] });
  });
});

it('an incident is over five minutes after the node got well, and is looked at then', () => {
  const taken = remembered({ ...ONSETS, incident: { type: 'Ready', taken: ['Reboot||600000'] } });
  const first = aFinding(WELL, { record: taken });
  expect(first).toMatchObject({ nextLookTime: at(5), record: { incident: { healthySince: NOW } } });
  const after = (minute: number) => aFinding(WELL, { record: first.record, now: at(minute) });
  expect(after(4)).toMatchObject({ nextLookTime: at(5), record: { incident: { healthySince: NOW } } });
  expect(after(5).record).toBeUndefined();
  expect(after(5).nextLookTime).toBeUndefined();
});
