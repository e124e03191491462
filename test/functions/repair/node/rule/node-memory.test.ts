/** What a look at a node remembers of it: its pool, its incidents, others at work on it, and what a replacement leaves to be done. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { PresentNode } from '../../../../../functions/repair/node/rule/finding.ts';
import type { RepairInForce } from '../../../../../functions/repair/node/rule/settings-in-force.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { addDuration, type EpochMs, hours, minutes, toDurationMs } from '../../../../../shared/domain/time.ts';
import {
  aCondition,
  aFinding,
  anAttempt,
  aPoolNode,
  claimOf,
  type Look,
  someRepairInForce,
  T,
} from '../../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
/** Minutes from now; negative: before. */
const at = (minute: number): EpochMs => addDuration(NOW, toDurationMs(minute * 60_000));
const NODE = aPoolNode('n1');
const WELL = aPoolNode('n1', aCondition('Ready', 'True', at(-60)));
const VETOED: NodeView = { ...NODE, annotations: { 'curfew.dev/do-not-repair': 'true' } };
const FLAPPING = someRepairInForce({ flapping: { window: '2h', unhealthyFor: '90m' } });
const NO_BLOCK = someRepairInForce({}, { settings: undefined });
const ONSETS = { onsets: { 'Ready=False': { start: T, stated: T } } };
const remembered = (more: Partial<NodeRecord> = {}): NodeRecord => ({ ...newNode('n1', 'default'), ...more });

it('remembers its name and its pool, and no pool of a node without one', () => {
  expect(aFinding(NODE, {})).toMatchObject({ kind: 'present', node: NODE, record: { name: 'n1', pool: 'default' } });
  expect(aFinding(NODE, { pool: 'other', record: remembered() }).record?.pool).toBe('other');
  expect(aFinding(NODE, { pool: undefined, record: remembered() }).record).not.toHaveProperty('pool');
});

describe('an event about the node', () => {
  const seen = (given: Look): string | undefined => aFinding(NODE, given).verdict?.kind;
  const own = (time: EpochMs): Look => ({ seenChanges: new Map([['uid-n1', { time }]]) });
  const without = (code: string): Look => ({ record: remembered({ reported: { code, time: at(-1), times: {} } }) });

  it.each<[string, Look, string]>([
    ['that there was none: the illness starts when its condition says', {}, 'due'],
    ['that came with the transition: it starts when its condition says', own(addDuration(T, minutes(10))), 'due'],
    ['that came long after the transition: it starts now, for the clock is behind', own(NOW), 'tolerate'],
    ['about some node of the pool counts as one about this', { changesTime: NOW }, 'tolerate'],
    ['of its own counts before that', { ...own(addDuration(T, minutes(1))), changesTime: NOW }, 'due'],
    ['that brings the time that was missing is about no transition', { ...own(NOW), ...without('ignore') }, 'due'],
    ['that brings it after anything else was said is', { ...own(NOW), ...without('tolerate') }, 'tolerate'],
  ])('%s', (_, given, expected) => {
    expect(seen(given)).toBe(expected);
  });
});

describe('unhealthy times', () => {
  const episodes = [{ startTime: at(-60), endTime: at(-50) }];
  it('are counted while `flapping` is on, kept while no block can be read, and forgotten without `flapping`', () => {
    const episodesBy = (repair: Look['repair']) =>
      aFinding(NODE, { ...(repair && { repair }), record: remembered({ ...ONSETS, episodes }) }).record?.episodes;
    expect(episodesBy(FLAPPING)).toEqual([...episodes, { startTime: T, began: [{ type: 'Ready', status: 'False' }] }]);
    expect(episodesBy(NO_BLOCK)).toEqual(episodes);
    expect(episodesBy(someRepairInForce())).toEqual([]);
  });
});

describe('an incident', () => {
  const acts = [{ key: 'Reboot||600000', action: 'Reboot', time: at(-40) }] as const;
  const lastIncident = { type: 'Disk', key: 'Reboot||1', time: at(-600) };
  const incident = { type: 'Ready', taken: ['Reboot||600000'] };
  const memory = (node: NodeView, more: Partial<NodeRecord>) =>
    aFinding(node, { record: remembered({ ...ONSETS, acts: [...acts], lastIncident, ...more }) }).record;

  it.each<[string, NodeView, Partial<NodeRecord>, Partial<NodeRecord>]>([
    ['that goes on is no earlier one', NODE, { incident }, { incident, lastIncident }],
    [
      'of a node that got well lasts five minutes',
      WELL,
      { incident: { ...incident, healthySince: at(-4) } },
      { incident: { ...incident, healthySince: at(-4) }, lastIncident },
    ],
    [
      'that is over leaves its type, its last action and the time of that',
      WELL,
      { incident: { ...incident, healthySince: at(-5) } },
      { incident: undefined, lastIncident: { type: 'Ready', key: 'Reboot||600000', time: at(-40) } },
    ],
    [
      'that is over without an act leaves the one before',
      WELL,
      { incident: { type: 'Ready', taken: [], healthySince: at(-5) } },
      { incident: undefined, lastIncident },
    ],
    ['that never was leaves the one before', WELL, {}, { incident: undefined, lastIncident }],
  ])('%s', (_, node, more, expected) => {
    const record = memory(node, more);
    expect(record?.incident).toEqual(expected.incident);
    expect(record?.lastIncident).toEqual(expected.lastIncident);
  });

  it('does not end while the settings of its pool cannot be read, and ends by itself where they went', () => {
    const record = remembered({ onsets: {}, acts: [...acts], incident: { ...incident, healthySince: at(-5) } });
    const seenBy = (settings: RepairInForce['settings']) =>
      aFinding(WELL, { record, repair: someRepairInForce({}, { settings }) }).record?.incident;
    expect(seenBy({ invalid: 'NodePool default: bad' })).toEqual({ ...incident, healthySince: NOW });
    expect(seenBy(undefined)).toBeUndefined();
  });
});

describe('somebody else at work on the node', () => {
  const LEASE: Look = { externalRequests: new Map([['n1', 'Lease a/n1']]) };
  const rebooting: Look = { claims: [claimOf(NODE, { conditions: [aCondition('Rebooting', 'True')] })] };
  const seenSince = (what: string, minute: number): Look => ({
    record: remembered({ ...ONSETS, otherWork: { what, time: at(minute) } }),
  });

  it.each<[string, Look, NodeRecord['otherWork']]>([
    ['is remembered since it was first seen', LEASE, { what: 'Lease a/n1', time: NOW }],
    [
      'is known for what was seen before',
      { ...LEASE, ...seenSince('Lease a/n1', -20) },
      { what: 'Lease a/n1', time: at(-20) },
    ],
    ['is new where that was another', { ...LEASE, ...seenSince('Lease b/n1', -20) }, { what: 'Lease a/n1', time: NOW }],
    ['is forgotten once it is over', seenSince('Lease a/n1', -20), undefined],
    ['may be seen on the NodeClaim', rebooting, { what: 'condition Rebooting of the NodeClaim', time: NOW }],
  ])('%s', (_, given, expected) => {
    expect(aFinding(NODE, given).record?.otherWork).toEqual(expected);
  });

  it.each<[string, Look, PresentNode['state'], number | undefined]>([
    ['counts as in flight', LEASE, 'inFlight', 1],
    [
      'counts until an hour after it was first seen, to the instant',
      { ...LEASE, ...seenSince('Lease a/n1', -59.5) },
      'inFlight',
      0.5,
    ],
    ['blocks its own node alone after that', { ...LEASE, ...seenSince('Lease a/n1', -60) }, 'idle', 1],
    [
      'that reboots counts for 40 minutes',
      { ...rebooting, ...seenSince('condition Rebooting of the NodeClaim', -39.5) },
      'inFlight',
      0.5,
    ],
    [
      'that reboots counts no longer',
      { ...rebooting, ...seenSince('condition Rebooting of the NodeClaim', -40) },
      'idle',
      1,
    ],
    [
      'counts nothing while the gate is closed',
      { ...LEASE, repair: someRepairInForce({}, { gateOpen: false }) },
      'idle',
      60,
    ],
  ])('%s', (_, given, state, minute) => {
    expect(aFinding(NODE, given)).toMatchObject({ state, nextLookTime: minute === undefined ? undefined : at(minute) });
  });

  it('is nothing at a node that is well', () => {
    const finding = aFinding(WELL, { ...LEASE, ...seenSince('Lease a/n1', -20) });
    expect(finding).toMatchObject({ state: 'idle', record: undefined });
  });
});

describe('the replacement of an earlier launch', () => {
  const CLAIM = claimOf(aPoolNode('new'), { name: 'r1', uid: 'uid-r1', nodeName: undefined });
  const leftovers = (releasedTime?: EpochMs) => ({
    replacement: { name: 'r1', uid: 'uid-r1', ...(releasedTime !== undefined && { releasedTime }) },
  });
  const look = (node: NodeView, more: Partial<NodeRecord>, given: Look = {}) =>
    aFinding(node, { claims: [claimOf(NODE), CLAIM], record: remembered({ ...ONSETS, ...more }), ...given });

  it.each<[string, boolean, NodeView, Partial<NodeRecord>]>([
    ['that nothing uses is taken back while the node is blocked', true, VETOED, { leftovers: leftovers() }],
    ['that is open stays while the node is blocked', false, VETOED, { leftovers: leftovers(at(-59)) }],
    [
      'that is open loses its marks after an hour, although the node is blocked',
      true,
      VETOED,
      { leftovers: leftovers(at(-60)) },
    ],
    [
      'that is open loses its marks after an hour, although the node is due',
      true,
      NODE,
      { leftovers: leftovers(at(-60)) },
    ],
    [
      'that nothing uses is kept where the node is due, for the launch that begins',
      false,
      NODE,
      { leftovers: leftovers() },
    ],
  ])('%s', (_, expected, node, more) => {
    const finding = look(node, more);
    expect(finding.needsCleanUp).toBe(expected);
    expect(finding.state).toBe('followed');
  });

  it('is followed, and looked at when its marks go', () => {
    expect(look(VETOED, { leftovers: leftovers(at(-58)) }).nextLookTime).toBe(at(2));
    expect(look(VETOED, { leftovers: leftovers(at(-10)) }).nextLookTime).toBe(at(5));
    expect(look(VETOED, {}).state).toBe('idle');
    expect(look(NODE, {}, { repair: someRepairInForce() })).toMatchObject({ state: 'idle', needsCleanUp: false });
  });

  it('is remembered with its UID, and with the time since when it is open', () => {
    const node = { ...aPoolNode('new'), taints: [] };
    const claims = [claimOf(NODE), { ...CLAIM, nodeName: 'new' }];
    const finding = look(NODE, { leftovers: { drain: 'r0', ...leftovers() } }, { claims, others: [node] });
    expect(finding.record?.leftovers).toEqual({
      drain: 'r0',
      replacement: { name: 'r1', uid: 'uid-r1', releasedTime: NOW },
    });
    expect(look(NODE, { leftovers: { drain: 'r0' } }).record?.leftovers).toEqual({ drain: 'r0' });
  });

  it('is not taken back while its termination is under way', () => {
    const attempt = anAttempt('n1', {
      replacement: { name: 'r1', uid: 'uid-r1' },
      time: NOW,
      until: addDuration(NOW, hours(1)),
    });
    const claims = [claimOf(NODE, { deletionTime: NOW }), CLAIM];
    expect(look(NODE, { leftovers: leftovers(), attempt }, { claims }).needsCleanUp).toBe(false);
  });
});

it('I7 the deadline of an earlier attempt goes, also while another act is under way', () => {
  const annotation = { claim: { name: 'claim-n1', uid: 'uid-claim-n1' }, set: '2024-11-01T15:02:48Z' };
  const attempt = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', time: NOW, until: at(10) });
  const look = (more: Partial<NodeRecord>) =>
    aFinding(VETOED, { record: remembered({ ...ONSETS, leftovers: { annotation }, ...more }) }).needsCleanUp;
  expect(look({ attempt })).toBe(true);
  expect(look({})).toBe(true);
});
