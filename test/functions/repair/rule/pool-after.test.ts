/** What a pool remembers of a pass, and when it is looked at again. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../functions/repair/decide.ts';
import { isWorthKeeping, poolAfter } from '../../../../functions/repair/rule/pool-decision.ts';
import { NEW_POOL, type PoolRecord, type Ramp } from '../../../../functions/repair/pool-record.ts';
import type { NodeRecord } from '../../../../functions/repair/node/record.ts';
import type { Attempt } from '../../../../functions/repair/node/attempt-record.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../../shared/domain/time.ts';
import { at, NOW, open, remembered, REPLACE, TERMINATE } from '../../../builders/pool.ts';
import {
  aCondition,
  aDecision,
  aFinding,
  anAttempt,
  aPoolNode,
  claimOf,
  type PoolWorld,
  READY,
  someRepairInForce,
} from '../../../builders/repair.ts';

const N1 = aPoolNode('n1');
const N2 = aPoolNode('n2');
const WELL = aPoolNode('n1', READY);
const TOLERATED = aPoolNode('n1', aCondition('Ready', 'False', at(-1)));
const VETO = { annotations: { 'curfew.dev/do-not-repair': 'true' } };
const KARPENTERS = { taints: [{ key: 'karpenter.sh/disrupted', value: '' }] };
const termination = (minute: number, node?: string) => ({
  condition: 'Ready=False',
  time: at(minute),
  ...(node !== undefined && { node }),
});
/** A termination of n1 that has gone on for so many minutes. */
const terminating = (minutes: number): Pick<PoolWorld, 'records' | 'claims'> => {
  const attempt = anAttempt('n1', { time: at(-minutes), until: at(60 - minutes) });
  return {
    records: { 'uid-n1': remembered({ attempt, number: 1 }) },
    claims: [claimOf(N1, { deletionTime: at(-minutes) }), claimOf(N2)],
  };
};
const launch = (more: Partial<Attempt>): Attempt =>
  anAttempt('n1', {
    action: 'Replace',
    key: 'Replace||900000',
    replacement: { name: 'r1', uid: 'r1' },
    ...more,
  } as Partial<Attempt>);
const launched = (more: Partial<Attempt>) => ({ 'uid-n1': remembered({ attempt: launch(more), number: 1 }) });
const begun = (minute: number): PoolRecord => ({ ...NEW_POOL, inFlight: { 'uid-n1': at(minute) } });

describe('terminations are remembered', () => {
  it.each<[string, JsonObject, readonly number[], readonly number[]]>([
    ['for a day', {}, [-24 * 60, -24 * 60 + 1, -1], [-24 * 60 + 1, -1]],
    [
      'for as long as futility counts them',
      { futility: { repairs: 3, window: '48h' } },
      [-48 * 60, -48 * 60 + 1, -1],
      [-48 * 60 + 1, -1],
    ],
    ['for a day where futility counts them for less', { futility: { repairs: 3, window: '1h' } }, [-70], [-70]],
  ])('%s', (_, block, before, after) => {
    const state = { ...NEW_POOL, terminations: before.map(minute => termination(minute)) };
    expect(
      aDecision([N1], { repair: open(block), poolRecord: state }).poolRecord.terminations.map(({ time }) => time),
    ).toEqual(after.map(at));
  });

  it('the last hundred of them', () => {
    const terminations = Array.from({ length: 101 }, (_, index) => termination(index - 200));
    const { poolRecord } = aDecision([N1], { repair: open(), poolRecord: { ...NEW_POOL, terminations } });
    expect(poolRecord.terminations).toEqual(terminations.slice(1));
  });
});

describe('a pool that could not launch a replacement launches none', () => {
  const repair = open({ actions: [REPLACE, TERMINATE] });
  const pause = (failures: number, minute: number) => ({ failures, until: at(minute) });
  const fresh = claimOf(aPoolNode('r1'), { name: 'r1', uid: 'r1', nodeName: undefined });
  const claims = [N1, N2].map(node => claimOf(node));

  it.each<[string, Partial<PoolWorld>, PoolRecord['launchPause']]>([
    ['for five minutes', { records: launched({}) }, pause(1, 5)],
    [
      'for twice as long after another failure',
      { records: launched({}), poolRecord: { ...NEW_POOL, launchPause: pause(1, -1) } },
      pause(2, 10),
    ],
    [
      'also where the run that asked for it died, and its time is over',
      {
        records: launched({ phase: 'intended', time: at(-15), until: NOW }),
        claims: [...claims, fresh],
      },
      pause(1, 5),
    ],
    ['until that is over', { poolRecord: { ...NEW_POOL, launchPause: pause(3, 1) } }, pause(3, 1)],
    [
      'and remembers that for a day',
      { poolRecord: { ...NEW_POOL, launchPause: pause(3, -24 * 60 + 1) } },
      pause(3, -24 * 60 + 1),
    ],
    ['and forgets it then', { poolRecord: { ...NEW_POOL, launchPause: pause(3, -24 * 60) } }, undefined],
  ])('%s', (_, given, expected) => {
    const { poolRecord } = aDecision([N1, N2], { repair, ...given });
    expect(poolRecord.launchPause).toEqual(expected);
    expect('launchPause' in poolRecord).toBe(expected !== undefined);
  });

  it('only for that: an act that a run has left unsaid is no failure', () => {
    const attempt = anAttempt('n1', { phase: 'intended', action: 'Reboot', key: 'Reboot||600000', time: at(-1) });
    const { findings, poolRecord } = aDecision([N1], { repair, records: { 'uid-n1': remembered({ attempt }) } });
    expect(findings).toMatchObject([{ unreported: [{ kind: 'carriedOut' }] }]);
    expect(poolRecord.launchPause).toBeUndefined();
  });
});

describe('a pool counts as in flight', () => {
  it.each<[string, boolean, Partial<PoolWorld>]>([
    ['a node on which a run may be at work', true, { poolRecord: begun(-0.9) }],
    ['none once that run is over', false, { poolRecord: begun(-1) }],
    ['none that it never set out to act on', false, {}],
    ['a termination for as long as it takes', true, { ...terminating(59), poolRecord: begun(-59) }],
    ['no termination that is stuck', false, { ...terminating(60), poolRecord: begun(-0.9) }],
    ['no Node that is gone', false, { nodes: [], gone: { 'uid-n1': remembered() }, poolRecord: begun(-0.9) }],
  ])('%s', (_, expected, given) => {
    const { inFlight } = aDecision(given.nodes ?? [N1, N2], { repair: open({ maxConcurrentRepairs: 0 }), ...given });
    expect([...inFlight]).toEqual(expected ? ['uid-n1'] : []);
  });

  it('and follows beside them what blocks nobody', () => {
    const over = (minutes: number) =>
      aDecision([N1, aPoolNode('n3', READY)], { repair: open(), ...terminating(minutes) });
    expect(over(59).poolRecord).toMatchObject({ inFlight: { 'uid-n1': NOW }, followed: [] });
    expect(over(60).poolRecord).toMatchObject({ inFlight: {}, followed: ['uid-n1'] });
  });
});

it('a pool counts those that are blocked, and those whose repair is under way', () => {
  const nodes = [N1, N2, aPoolNode('n3'), aPoolNode('n4', undefined, VETO), aPoolNode('n5', READY)];
  const { records } = terminating(5);
  const claims = nodes.map(node => claimOf(node, node === N1 ? { deletionTime: at(-5) } : {}));
  const { poolRecord } = aDecision(nodes, { repair: open({ maxConcurrentRepairs: 2 }), records, claims });
  expect(poolRecord.counts).toEqual({ blocked: 2, repairing: 2 });
});

describe('a pool is looked at again', () => {
  const slow = open({ defaultTolerationDuration: '10h' });
  it.each<[string, EpochMs | undefined, Partial<PoolWorld>]>([
    ['never while nothing is about to change', undefined, { nodes: [WELL] }],
    ['when a node is due', at(29), { nodes: [TOLERATED] }],
    ['when a run that may be at work is over', at(0.1), { nodes: [WELL], poolRecord: begun(-0.9) }],
    [
      'every five minutes while somebody else is at work on a node',
      at(5),
      { nodes: [{ ...TOLERATED, ...KARPENTERS }], repair: slow },
    ],
    [
      'when its oldest termination is forgotten',
      at(4 * 60),
      { nodes: [WELL], poolRecord: { ...NEW_POOL, terminations: [termination(-20 * 60), termination(-60)] } },
    ],
    [
      'when the step of its ramp is over',
      at(0.5),
      { nodes: [WELL], poolRecord: { ...NEW_POOL, ramp: { step: 1, stepTime: at(-0.5), granted: 1 } } },
    ],
  ])('%s', (_, expected, given) => {
    expect(aDecision(given.nodes ?? [], { repair: open(), ...given }).wakeTime).toBe(expected);
  });
});

describe('a pool is in an outage', () => {
  const inZone = (zone: string, name: string, condition = aCondition('Ready', 'False')) =>
    aPoolNode(name, condition, {
      labels: { 'karpenter.sh/nodepool': 'default', 'topology.kubernetes.io/zone': zone },
    });
  const silent = ['n2', 'n3', 'n4', 'n5', 'n6'].map(name => aPoolNode(name, aCondition('Ready', 'Unknown')));
  const dark = ['a1', 'a2', 'a3', 'a4'].map(name => inZone('a', name));
  const others = [inZone('b', 'b1'), ...['b2', 'b3', 'b4', 'b5'].map(name => inZone('b', name, READY))];
  const zones = someRepairInForce({ freeze: 'Off', maxUnhealthy: '0%' });
  it.each<[string, boolean, readonly string[], Partial<PoolWorld>]>([
    [
      'while freeze blocks a node',
      true,
      ['cluster'],
      { nodes: [WELL, ...silent], repair: someRepairInForce({ maxUnhealthy: '100%', zoneOutage: 'Off' }) },
    ],
    [
      'while a zone does, whatever blocks the others',
      true,
      ['threshold', 'zone/a'],
      { nodes: [...dark, ...others], repair: zones },
    ],
    ['not while its own threshold does', false, ['threshold'], { nodes: others, repair: zones }],
    ['not while none is blocked', false, [], { nodes: [N1], repair: open() }],
  ])('%s', (_, expected, blocked, given) => {
    const { isOutage, poolRecord } = aDecision(given.nodes ?? [], given);
    expect(poolRecord.blockingGuards).toEqual(blocked);
    expect(isOutage).toBe(expected);
  });
});

describe('I7 what a refused attempt has left', () => {
  const leftovers: NodeRecord['leftovers'] = { drain: 'r1' };
  const key = 'Terminate||3600000';
  const refusal = { cause: 'request', message: 'no', basis: '', count: 1, firstTime: NOW, lastTime: NOW } as const;
  const left = (given: Partial<PoolWorld>, more: Partial<NodeRecord> = { leftovers }) => {
    const records = { 'uid-n1': remembered(more) };
    return aDecision(given.nodes ?? [N1], { repair: open(), records, ...given }).findings[0];
  };
  it.each<[string, boolean, string | undefined, Partial<PoolWorld>, Partial<NodeRecord>?]>([
    ['is used by the attempt that begins', false, 'repair', {}],
    ['is used by the one that is tried again', false, 'retry', {}, { leftovers, refusals: { [key]: refusal } }],
    [
      'is used by the one that is under way',
      false,
      'finishing',
      { claims: terminating(5).claims },
      {
        leftovers,
        attempt: anAttempt('n1', { time: at(-5) }),
      },
    ],
    ['goes while the node is blocked', true, 'blockedByPool', { repair: open({ maxConcurrentRepairs: 0 }) }],
    ['goes while a person forbids the repair', true, 'vetoed', { nodes: [{ ...N1, ...VETO }] }],
    ['is nothing where nothing is ours', false, 'vetoed', { nodes: [{ ...N1, ...VETO }] }, {}],
  ])('%s', (_, expected, kind, given, more) => {
    const finding = left(given, more);
    expect(finding?.verdict?.kind).toBe(kind);
    expect(finding?.needsCleanUp).toBe(expected);
  });

  it('is left alone where another Node has its name by now', () => {
    const nameless: typeof decide = observed =>
      decide({ ...observed, findings: observed.findings.map(each => ({ ...each, verdict: undefined })) });
    expect(left({ decide: nameless })).toMatchObject({ record: { leftovers }, needsCleanUp: false });
  });
});

describe('what a run had granted and not carried out is given back to the ramp', () => {
  const ramp: Ramp = { step: 1, stepTime: at(-2), granted: 1 };
  it.each<[string, number, Partial<PoolWorld>]>([
    ['once that run is over', 1, { poolRecord: begun(-1) }],
    ['where nothing is remembered of the node', 1, { nodes: [WELL, N2], poolRecord: begun(-1) }],
    ['while that run may be at work: not', 2, { poolRecord: begun(-0.9) }],
    ['of a step before: not', 2, { poolRecord: begun(-3) }],
    ['of a node that it never set out to act on: not', 2, {}],
    ['where its Node is gone: not', 2, { nodes: [N2], gone: { 'uid-n1': remembered() }, poolRecord: begun(-1) }],
    ['where its termination is stuck: not', 2, { ...terminating(60), poolRecord: begun(-1) }],
    ['where somebody else is at work on it: not', 2, { nodes: [{ ...N1, ...KARPENTERS }, N2], poolRecord: begun(-1) }],
  ])('%s', (_, step, { poolRecord: state = NEW_POOL, ...given }) => {
    const nodes = [...(given.nodes ?? [N1, N2]), ...['w1', 'w2', 'w3', 'w4'].map(name => aPoolNode(name, READY))];
    const decision = aDecision(nodes, { repair: open(), ...given, nodes, poolRecord: { ...state, ramp } });
    expect(decision.poolRecord.ramp?.step).toBe(step);
  });

  it('and the step is followed by none where that would allow as many as the pool has nodes', () => {
    expect(aDecision([WELL], { repair: open(), poolRecord: { ...NEW_POOL, ramp } }).poolRecord).not.toHaveProperty(
      'ramp',
    );
  });
});

describe('after its acts', () => {
  type Act = Parameters<typeof poolAfter>[1][number];
  const act = (outcome: Act['outcome'], attempt: Attempt = anAttempt('n1')): Act => ({
    granted: { finding: { node: N1 }, attempt, isContinued: false },
    outcome,
  });
  const ACCEPTED = { kind: 'accepted' } as const;
  const refused = (cause: 'request' | 'permission' | 'passing') => ({ kind: 'refused', cause }) as const;
  const reboot = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000' });
  const replaced = anAttempt('n1', { replacement: { name: 'r1' } });
  const found = (more: Partial<NodeRecord> = {}, given: Parameters<typeof aFinding>[1] = {}) =>
    aFinding(N1, { now: NOW, repair: open(), record: remembered(more), ...given });
  const idle = aFinding(N2, { now: NOW, repair: open() });

  describe('a pool that could not launch a replacement', () => {
    const paused = { failures: 1, until: at(-1) };
    const again = { failures: 2, until: at(10) };
    it.each<[string, PoolRecord['launchPause'], readonly Act[]]>([
      ['waits longer where the launch was refused', again, [act(refused('request'), launch({}))]],
      ['waits longer where one of two was', again, [act(ACCEPTED), act(refused('request'), launch({}))]],
      ['waits as before where a permission is missing', paused, [act(refused('permission'), launch({}))]],
      ['waits as before where that may pass', paused, [act(refused('passing'), launch({}))]],
      ['waits as before where the launch was accepted', paused, [act(ACCEPTED, launch({}))]],
      ['waits as before where something else was refused', paused, [act(refused('request'))]],
      ['waits no more once a replaced node goes', undefined, [act(ACCEPTED), act(ACCEPTED, replaced)]],
      ['waits no more where somebody else ends the replaced node', undefined, [act({ kind: 'overtaken' }, replaced)]],
      ['waits as before where a node goes without a replacement', paused, [act(ACCEPTED)]],
      ['waits as before where nobody knows', paused, [act({ kind: 'unknown' }, replaced)]],
      ['waits as before where nothing was done', paused, []],
    ])('%s', (_, expected, acts) => {
      const after = poolAfter({ ...NEW_POOL, launchPause: paused }, acts, [idle], NOW);
      expect(after.launchPause).toEqual(expected);
      expect('launchPause' in after).toBe(expected !== undefined);
    });

    it('waits longer where a launch is skipped for what might have passed', () => {
      const incident = { type: 'Ready', taken: [], skippedLaunches: [launch({}).key] };
      const after = poolAfter(
        { ...NEW_POOL, launchPause: paused },
        [act(refused('passing'), launch({}))],
        [found({ incident })],
        NOW,
      );
      expect(after.launchPause).toEqual(again);
    });
  });

  describe('the slot of a node', () => {
    const slot = { ...begun(0), ramp: { step: 2, stepTime: NOW, granted: 3 } };
    it.each<[string, boolean, number, Act['outcome'], ReturnType<typeof found>]>([
      ['stays once its act is accepted', true, 3, ACCEPTED, found()],
      ['stays where nobody knows', true, 3, { kind: 'unknown' }, found()],
      ['stays where somebody else ends it', true, 3, { kind: 'overtaken' }, found()],
      ['is free where the act is refused', false, 2, refused('request'), found()],
      ['is free where the act is called off', false, 2, { kind: 'calledOff' }, found()],
      [
        'stays where the act before it is still in flight',
        true,
        2,
        refused('request'),
        found({ attempt: anAttempt('n1', { time: at(-5) }) }, { claims: [claimOf(N1, { deletionTime: at(-5) })] }),
      ],
    ])('%s', (_, stays, granted, outcome, finding) => {
      const after = poolAfter(slot, [act(outcome)], [finding, idle], NOW);
      expect(after.inFlight).toEqual(stays ? { 'uid-n1': NOW } : {});
      expect(after.ramp).toEqual({ ...slot.ramp, granted });
    });

    it('is kept where another one was refused, and no ramp begins by that', () => {
      const state = { ...NEW_POOL, inFlight: { 'uid-n1': NOW, 'uid-n2': NOW } };
      const after = poolAfter(state, [act(refused('request'))], [found(), idle], NOW);
      expect(after.inFlight).toEqual({ 'uid-n2': NOW });
      expect(after).not.toHaveProperty('ramp');
    });
  });

  describe('a termination is counted', () => {
    const counted = (time: EpochMs, node = 'uid-n1') => ({ condition: 'Ready=False', time, node });
    const died = anAttempt('n1', { phase: 'intended', time: at(-5) });
    const going = { claims: [claimOf(N1, { deletionTime: at(-5) })] };
    const lost = aDecision([], { gone: { 'uid-n1': remembered({ attempt: died }) } }).findings;
    const unsaid = [idle, found({ attempt: { ...died, phase: 'accepted' } }, going)];
    it.each<[string, readonly object[], readonly Act[], Parameters<typeof poolAfter>[2], PoolRecord?]>([
      ['once it is accepted', [counted(NOW)], [act(ACCEPTED)], [idle]],
      ['with a replacement before it', [{ ...counted(NOW), isReplaced: true }], [act(ACCEPTED, replaced)], [idle]],
      ['where it was refused: not', [], [act(refused('request'))], [idle]],
      ['where nobody knows: not', [], [act({ kind: 'unknown' })], [idle]],
      ['where it was a reboot: not', [], [act(ACCEPTED, reboot)], [idle]],
      ['where its run died before that, and it is under way', [counted(at(-5))], [], unsaid],
      ['where its run died before that, and its Node is gone', [counted(at(-5))], [], lost],
      ['where its run may be at work yet: not', [], [], [found({ attempt: { ...died, time: NOW } })]],
      ['where a reboot is under way: not', [], [], [found({ attempt: { ...reboot, time: at(-5) } })]],
      ['where it begins anew: as that', [counted(NOW)], [act(ACCEPTED)], unsaid],
      [
        'once: not where it is counted',
        [termination(-5, 'uid-n1')],
        [],
        unsaid,
        { ...NEW_POOL, terminations: [termination(-5, 'uid-n1')] },
      ],
      [
        'beside others, and those of which the node is not remembered',
        [termination(-9), termination(-7, 'uid-n0'), counted(NOW)],
        [act(ACCEPTED)],
        [idle],
        { ...NEW_POOL, terminations: [termination(-9), termination(-7, 'uid-n0')] },
      ],
    ])('%s', (_, expected, acts, findings, state = NEW_POOL) => {
      expect(poolAfter(state, acts, findings, NOW).terminations).toEqual(expected);
    });
  });

  it('those that are followed and repaired are counted anew, and those that are blocked are as before', () => {
    const { findings } = aDecision([N1, N2, aPoolNode('n3', READY)], { repair: open(), ...terminating(60) });
    const state = { ...NEW_POOL, inFlight: { 'uid-n2': NOW }, counts: { blocked: 7, repairing: 7 } };
    const after = poolAfter(state, [], findings, NOW);
    expect(after).toMatchObject({ followed: ['uid-n1'], counts: { blocked: 7, repairing: 2 } });
  });
});

describe('the record of a pool', () => {
  const CARRIED = {} as NonNullable<PoolRecord['oldAttempts']>[number];
  it.each<[string, boolean, Partial<PoolRecord>]>([
    ['is kept for a node in flight', true, { inFlight: { 'uid-n1': NOW } }],
    ['is kept for a node that is followed', true, { followed: ['uid-n1'] }],
    ['is kept for a guard that blocks', true, { blockingGuards: ['threshold'] }],
    ['is kept for a ramp', true, { ramp: { step: 0, stepTime: NOW, granted: 0 } }],
    ['is kept for a pause of launches', true, { launchPause: { failures: 1, until: NOW } }],
    ['is kept for terminations', true, { terminations: [{ condition: 'Ready', time: NOW }] }],
    ['is kept for attempts that no node has yet', true, { oldAttempts: [CARRIED] }],
    ['is kept for blocked repairs', true, { counts: { blocked: 1, repairing: 0 } }],
    ['goes where there is nothing', false, {}],
    ['goes where only the number of running repairs is left', false, { counts: { blocked: 0, repairing: 1 } }],
    ['goes where only the time of a report is left', false, { missingTime: NOW }],
    ['goes where a list is empty', false, { oldAttempts: [] }],
  ])('%s', (_, expected, state) => {
    expect(isWorthKeeping({ ...NEW_POOL, ...state })).toBe(expected);
  });
});
