/** What becomes of an attempt: by looking, never by repeating (I4). */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import type { PoolDecision } from '../../../../../functions/repair/rule/pool-decision.ts';
import type { Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import { NEW_POOL } from '../../../../../functions/repair/pool-record.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { addDuration, hours, minutes, seconds, toEpochMs, toTimestamp } from '../../../../../shared/domain/time.ts';
import {
  aCondition,
  aDecision,
  anAttempt,
  aPoolNode,
  claimOf,
  type PoolWorld,
  someRepairInForce,
  T,
  verdictsOf,
} from '../../../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const SETTLED = addDuration(NOW, seconds(60));
const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';
const DEADLINE = '2025-01-01T00:00:00Z';
const OPEN = { maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' };
const NODE = aPoolNode('n1', undefined, { bootID: 'boot-1' });
const WELL: NodeView = { ...NODE, conditions: [aCondition('Ready', 'True', addDuration(NOW, seconds(-10)))] };

const remembered = (attempt: Attempt, more: Partial<NodeRecord> = {}): NodeRecord => ({
  ...newNode('n1', 'default'),
  onsets: { 'Ready=False': { start: T, stated: T } },
  number: attempt.number,
  attempt,
  incident: { type: 'Ready', taken: attempt.phase === 'accepted' ? [attempt.key] : [] },
  ...more,
});
function after(attempt: Attempt, { nodes = [NODE], ...given }: Partial<PoolWorld> = {}): PoolDecision {
  const records = { 'uid-n1': remembered(attempt) };
  const state = { ...NEW_POOL, inFlight: { 'uid-n1': attempt.time } };
  return aDecision(nodes, { repair: someRepairInForce(OPEN), poolRecord: state, records, ...given });
}

describe('an attempt of which no run said how it ended', () => {
  const set = '2024-11-01T15:32:48Z';
  const intended = anAttempt('n1', {
    phase: 'intended',
    time: NOW,
    pods: { kind: 'until', time: NOW, annotation: { set, previous: DEADLINE } },
  });

  it('I4 is left alone until a call of that run must have had its outcome', () => {
    const early = { now: toEpochMs(SETTLED - 1) };
    for (const repair of [
      someRepairInForce(OPEN),
      someRepairInForce(OPEN, { mode: 'Observe' }),
      someRepairInForce({}, { gateOpen: false }),
    ]) {
      const decision = after(intended, { ...early, repair });
      expect(verdictsOf(decision)).toEqual(['outcomeUnknown n1']);
      expect(decision.findings).toMatchObject([
        { state: 'inFlight', needsCleanUp: false, record: { attempt: intended } },
      ]);
      expect(decision.granted).toEqual([]);
    }
    expect(after(intended, early).wakeTime).toBe(SETTLED);
  });

  it('I4 and I7 is taken over after looking, number, annotation and all', () => {
    const annotations = { [ANNOTATION]: set };
    const { granted } = after(intended, { now: SETTLED, claims: [claimOf(NODE, { annotations })] });
    expect(granted).toMatchObject([
      {
        attempt: {
          number: 1,
          time: SETTLED,
          pods: { kind: 'until', annotation: { set, previous: DEADLINE } },
        },
      },
    ]);
  });

  it.each<[string, Parameters<typeof claimOf>[1] | 'none']>([
    ['the NodeClaim is gone by its UID', 'none'],
    ['it goes forcefully', { deletionTime: NOW, annotations: { [ANNOTATION]: toTimestamp(NOW) } }],
  ])('was carried out where %s', (_, claim) => {
    const claims = claim === 'none' ? [] : [claimOf(NODE, claim)];
    const decision = after(intended, { now: SETTLED, claims });
    expect(decision.granted).toEqual([]);
    expect(decision.findings).toMatchObject([
      {
        unreported: [{ kind: 'carriedOut', attempt: { number: 1 } }],
        record: { attempt: { phase: 'accepted' }, acts: [{ action: 'Terminate' }] },
      },
    ]);
  });

  // A run that died before it wrote anything, on a NodeClaim that somebody else had deleted.
  it('is tried again where the NodeClaim goes gracefully', () => {
    const { granted } = after(intended, { now: SETTLED, claims: [claimOf(NODE, { deletionTime: NOW })] });
    expect(granted).toHaveLength(1);
  });

  it.each([
    ['the node is well', [WELL], someRepairInForce(OPEN)],
    ['the gate is closed', [NODE], someRepairInForce(OPEN, { gateOpen: false })],
    ['mode is Observe', [NODE], someRepairInForce(OPEN, { mode: 'Observe' })],
    ['there is no block any more', [NODE], someRepairInForce({}, { settings: undefined })],
  ])('I7 is taken back, with what it has set, where %s', (_, nodes, repair) => {
    const { findings } = after(intended, { now: SETTLED, nodes, repair });
    expect(findings).toMatchObject([
      { needsCleanUp: true, record: { leftovers: { annotation: { set, previous: DEADLINE } } } },
    ]);
    expect(findings[0]?.record?.attempt).toBeUndefined();
  });

  it('I4 counts as carried out where it was a reboot: nothing tells for certain', () => {
    const reboot = { ...intended, action: 'Reboot', key: 'Reboot||600000', bootID: 'boot-1' } as const;
    const actions = [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }];
    const decision = after(reboot, { now: SETTLED, repair: someRepairInForce({ ...OPEN, actions }) });
    expect(decision).toMatchObject({
      granted: [],
      findings: [{ unreported: [{ kind: 'carriedOut', attempt: { action: 'Reboot' } }] }],
    });
  });
});

describe('a reboot under way', () => {
  const actions = [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }];
  const repair = someRepairInForce({ ...OPEN, actions });
  const until = addDuration(NOW, minutes(10));
  const reboot = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', bootID: 'boot-1', until });

  it('has its time, then the next action follows in the same slot of the budget', () => {
    const one = someRepairInForce({ ...OPEN, actions, maxConcurrentRepairs: 1 });
    const early = after(reboot, { repair: one, now: toEpochMs(until - 1) });
    expect(early).toMatchObject({ granted: [], wakeTime: until });
    expect(verdictsOf(early)).toEqual(['underWay n1']);
    const late = after(reboot, { repair: one, now: until });
    expect(late.granted).toMatchObject([{ attempt: { action: 'Terminate', number: 2 } }]);
    expect(Object.keys(late.poolRecord.inFlight)).toEqual(['uid-n1']);
  });

  it('has helped where the node is well with another boot ID: the incident is over at once', () => {
    const decision = after(reboot, { repair, nodes: [{ ...WELL, bootID: 'boot-2' }] });
    expect(verdictsOf(decision)).toEqual(['recovered n1']);
    expect(decision.findings[0]?.record).not.toHaveProperty('incident');
    expect(decision.poolRecord.inFlight).toEqual({});
  });

  it('is not over where the node looks well with the boot ID of before', () => {
    const decision = after(reboot, { repair, nodes: [WELL], now: addDuration(NOW, minutes(2)) });
    expect(verdictsOf(decision)).toEqual([]);
    expect(decision.findings).toMatchObject([{ state: 'inFlight', record: { attempt: { action: 'Reboot' } } }]);
  });

  it('is not interrupted by a veto, a closed gate or mode Observe, and nothing follows it there', () => {
    const vetoed: NodeView = { ...NODE, annotations: { 'curfew.dev/do-not-repair': 'true' } };
    const cases: readonly Partial<PoolWorld>[] = [
      { nodes: [vetoed], repair },
      { repair: someRepairInForce({ ...OPEN, actions }, { gateOpen: false }) },
      { repair: someRepairInForce({ ...OPEN, actions }, { mode: 'Observe' }) },
    ];
    for (const given of cases) {
      const early = after(reboot, { ...given, now: addDuration(NOW, minutes(5)) });
      expect(early.findings).toMatchObject([{ state: 'inFlight', needsCleanUp: false }]);
      expect(after(reboot, { ...given, now: until }).granted).toEqual([]);
    }
  });

  it('leaves nothing to try where it was the last one, and blocks nobody then', () => {
    const only = someRepairInForce({ ...OPEN, actions: actions.slice(0, 1) });
    const decision = after(reboot, { repair: only, now: until });
    expect(verdictsOf(decision)).toEqual(['exhausted n1']);
    expect(decision.poolRecord.inFlight).toEqual({});
  });
});

describe('a drain under way', () => {
  const repair = (overrides = {}) =>
    someRepairInForce({ ...OPEN, actions: [{ type: 'DrainThenTerminate', timeout: '20m' }] }, overrides);
  const until = addDuration(NOW, minutes(20));
  const drain = anAttempt('n1', { action: 'Drain', key: 'Drain||1200000', requestId: 'r1', until });

  it.each([
    ['the gate is closed', repair({ gateOpen: false })],
    ['mode is Observe', repair({ mode: 'Observe' })],
    ['its block is gone', repair({ settings: undefined })],
  ])('I7 is called off, and not taken, where %s', (_, closed) => {
    const { findings } = after(drain, { repair: closed, now: addDuration(NOW, minutes(5)) });
    expect(findings).toMatchObject([
      { needsCleanUp: true, record: { leftovers: { drain: 'r1' }, incident: { taken: [] } } },
    ]);
    expect(findings[0]?.record?.attempt).toBeUndefined();
  });

  it('goes on where the block cannot be read: a mistake calls nothing off', () => {
    const { findings } = after(drain, {
      repair: repair({ settings: { invalid: 'a typo' } }),
      now: addDuration(NOW, minutes(5)),
    });
    expect(findings).toMatchObject([
      { state: 'inFlight', needsCleanUp: false, record: { attempt: { action: 'Drain' } } },
    ]);
  });

  it('is followed by the termination at once when it has ended, and by nothing when a person took it back', () => {
    const answered = (kind: 'succeeded' | 'failed' | 'stopped') =>
      after(
        { ...drain, action: 'Drain', requestId: 'r1', answer: { kind, message: 'told' } },
        { repair: repair(), now: addDuration(NOW, minutes(5)), nodes: [{ ...NODE, unschedulable: true }] },
      );
    expect(answered('succeeded').granted).toMatchObject([{ attempt: { action: 'Terminate' } }]);
    expect(answered('failed').granted).toMatchObject([{ attempt: { action: 'Terminate' } }]);
    expect(verdictsOf(answered('stopped'))).toEqual(['exhausted n1']);
  });

  it('is followed by nothing until the node is well once somebody has opened it after the drain', () => {
    const ended: Attempt = {
      ...drain,
      action: 'Drain',
      requestId: 'r1',
      answer: { kind: 'succeeded', message: 'told' },
    };
    const now = addDuration(NOW, minutes(5));
    const opened = after(ended, { repair: repair(), now });
    expect(verdictsOf(opened)).toEqual(['exhausted n1']);
    const [record] = opened.findings.map(finding => finding.record);
    expect(record).toMatchObject({ incident: { stopped: expect.stringContaining('somebody opened the node') } });
    expect(record).toMatchObject({ leftovers: { drain: 'r1' } });
    expect(record).not.toHaveProperty('attempt');
    const closed = { ...NODE, unschedulable: true };
    const next = {
      repair: repair(),
      now: addDuration(now, minutes(1)),
      records: { 'uid-n1': record ?? newNode('n1', 'default') },
    };
    expect(verdictsOf(aDecision([closed], { ...next, poolRecord: NEW_POOL }))).toEqual(['exhausted n1']);
    expect(
      verdictsOf(after({ ...ended, answer: { kind: 'failed', message: 'told' } }, { repair: repair(), now })),
    ).toEqual(['repair n1']);
  });

  it('begins anew where the node was well for a moment after it, since pods have come back', () => {
    const ended: Attempt = {
      ...drain,
      action: 'Drain',
      requestId: 'r1',
      answer: { kind: 'succeeded', message: 'told' },
    };
    const now = addDuration(NOW, minutes(5));
    const recovered = after(ended, { repair: repair(), now, nodes: [WELL] });
    expect(recovered.findings[0]?.record?.incident).toMatchObject({ interrupted: drain.key });
  });
});

describe('a node that is closed for its reboot', () => {
  const reboot = anAttempt('n1', {
    action: 'Reboot',
    key: 'Reboot||600000',
    time: NOW,
    until: addDuration(NOW, minutes(10)),
  });
  const repair = someRepairInForce({
    ...OPEN,
    actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
  });
  const MAINTAINED: NodeView = {
    ...NODE,
    conditions: [...NODE.conditions, { ...aCondition('MaintenanceInProgress', 'True', T), reason: 'CurfewReboot' }],
  };
  const now = addDuration(NOW, minutes(5));

  it('is left alone once somebody opens it', () => {
    const over = addDuration(NOW, minutes(10));
    expect(verdictsOf(after(reboot, { repair, now: over, nodes: [MAINTAINED] }))).toEqual(['exhausted n1']);
    // The machine may come back well.
    expect(verdictsOf(after(reboot, { repair, now, nodes: [MAINTAINED] }))).toEqual(['underWay n1']);
    const closed = { ...MAINTAINED, unschedulable: true };
    expect(verdictsOf(after(reboot, { repair, now: over, nodes: [closed] }))).toEqual(['repair n1']);
    expect(verdictsOf(after(reboot, { repair, now: over }))).toEqual(['repair n1']);
  });

  it('is left alone also while its reboot is refused, and the refusal is forgotten', () => {
    const refused = { cause: 'request', message: 'no', basis: '', firstTime: NOW, lastTime: NOW, count: 1 } as const;
    const records = {
      'uid-n1': {
        ...newNode('n1', 'default'),
        onsets: { 'Ready=False': { start: T, stated: T } },
        refusals: { [reboot.key]: refused },
      },
    };
    const opened = aDecision([MAINTAINED], { repair, now, records, poolRecord: NEW_POOL });
    expect(verdictsOf(opened)).toEqual(['exhausted n1']);
    expect(opened.findings[0]?.record).toMatchObject({ incident: { type: '', taken: [] }, refusals: undefined });
    const closed = { ...MAINTAINED, unschedulable: true };
    expect(verdictsOf(aDecision([closed], { repair, now, records, poolRecord: NEW_POOL }))).not.toEqual([
      'exhausted n1',
    ]);
  });
});

describe('a termination', () => {
  const termination = anAttempt('n1', { until: addDuration(NOW, hours(1)) });
  const going = claimOf(NODE, { deletionTime: NOW, annotations: { [ANNOTATION]: toTimestamp(NOW) } });

  it('keeps its slot until its Node is gone, and blocks nobody once it is stuck', () => {
    const early = after(termination, { claims: [going], now: addDuration(NOW, minutes(59)) });
    expect(verdictsOf(early)).toEqual(['finishing n1']);
    expect(Object.keys(early.poolRecord.inFlight)).toEqual(['uid-n1']);
    const stuck = after(termination, { claims: [going], now: addDuration(NOW, hours(1)) });
    expect(stuck.findings[0]?.verdict).toMatchObject({
      kind: 'stuck',
      message: expect.stringContaining('held by finalizer karpenter.sh/termination on the NodeClaim'),
    });
    expect(stuck.poolRecord).toMatchObject({ inFlight: {}, followed: ['uid-n1'] });
  });

  it('is taken once more where a restored cluster has undone it: the NodeClaim is not being deleted', () => {
    const decision = after(termination, { now: addDuration(NOW, minutes(5)) });
    expect(decision.granted).toMatchObject([{ attempt: { action: 'Terminate', number: 2, phase: 'intended' } }]);
  });

  it('goes on where the node is well by now: its NodeClaim is on its way', () => {
    const decision = after(termination, { claims: [going], nodes: [WELL], now: addDuration(NOW, minutes(5)) });
    expect(decision.findings).toMatchObject([{ state: 'inFlight' }]);
    expect(decision.granted).toEqual([]);
  });
});
