/** How an attempt begins, and what the record says of it at each end. */
import { describe, expect, it } from 'vitest';
import {
  withAcceptedAttempt,
  annotationOf,
  withoutCalledOffAttempt,
  createAttempt,
  judgeTime,
  withoutTakenBackLaunch,
  replacementOf,
  withoutAct,
  withoutAttempt,
} from '../../../../../functions/repair/node/rule/attempt.ts';
import { isDueFinding } from '../../../../../functions/repair/node/rule/finding.ts';
import { allActionsOf } from '../../../../../functions/repair/node/rule/ladder.ts';
import type { Attempt, AttemptOf, Replacement } from '../../../../../functions/repair/node/attempt-record.ts';
import type { Act, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { JsonObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { type DurationMs, type EpochMs, minutes } from '../../../../../shared/domain/time.ts';
import { at, FIX, NOW, REBOOT, remembered, REPLACE, TERMINATE } from '../../../../builders/pool.ts';
import {
  aFinding,
  anAttempt,
  aPoolNode,
  claimOf,
  someRepairInForce,
  someSettings,
} from '../../../../builders/repair.ts';

const NODE = aPoolNode('n1', undefined, { bootID: 'boot-1' });
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const TEN_MINUTES = '2024-11-01T15:42:48Z';

interface Given {
  readonly block?: JsonObject;
  readonly node?: NodeView;
  readonly record?: Partial<NodeRecord>;
  /** undefined: Karpenter does not manage the node. */
  readonly claim?: Partial<NodeClaimView> | undefined;
  /** The replacement that is ready. */
  readonly replacement?: Replacement;
}

/** The attempt that begins at a node that is due. */
function begun(given: Given = {}): Attempt {
  const { block = {}, node = NODE, record } = given;
  const claims = 'claim' in given && given.claim === undefined ? [] : [claimOf(node, given.claim)];
  const finding = aFinding(node, {
    now: NOW,
    claims,
    repair: someRepairInForce(block),
    ...(record && { record: remembered(record) }),
  });
  if (!isDueFinding(finding)) throw new Error('the node is not due');
  const { verdict } = finding;
  const { replacement } = given;
  const action =
    verdict.action.type === 'Terminate' && replacement !== undefined
      ? { ...verdict.action, replacement }
      : verdict.action;
  return createAttempt({ ...finding, verdict: { ...verdict, action } }, NOW).attempt;
}
type FirstHalf =
  | { readonly type: 'Drain'; readonly key: string; readonly timeout: DurationMs }
  | { readonly type: 'Replace'; readonly key: string };
const by = (...actions: readonly JsonObject[]): JsonObject => ({ actions });

describe('an attempt', () => {
  it('is intended from now on, has the time of its action, and knows why and at which NodeClaim', () => {
    expect(begun({ block: by(REBOOT) })).toEqual({
      number: 1,
      phase: 'intended',
      time: NOW,
      dueCondition: expect.objectContaining({ conditionType: 'Ready', conditionStatus: 'False', dueTime: NOW }),
      key: 'Reboot||600000',
      until: at(10),
      action: 'Reboot',
      claim: { name: 'claim-n1', uid: 'uid-claim-n1' },
      bootID: 'boot-1',
    });
  });

  it('has the next number, and that of the attempt that no run carried out', () => {
    expect(begun({ record: { number: 3 } }).number).toBe(4);
    const attempt = anAttempt('n1', { number: 3, phase: 'intended', time: at(-5) });
    const incident = { type: 'Ready', taken: [] };
    expect(begun({ record: { number: 3, attempt, incident } }).number).toBe(3);
  });

  it('at a machine that tells no boot ID has none', () => {
    expect(begun({ block: by(REBOOT), node: aPoolNode('n1') })).not.toHaveProperty('bootID');
  });

  it('I4 of a request that may have been made goes on under its ID, and any other has one of its own', () => {
    const requestOf = (key?: string) =>
      begun({
        block: by(FIX),
        record: key === undefined ? {} : { leftovers: { requested: { key, requestId: 'earlier' } } },
      });
    const { key } = requestOf();
    expect(requestOf(key)).toMatchObject({ action: 'CustomResource', requestId: 'earlier' });
    for (const other of [undefined, 'Reboot||600000'])
      expect(requestOf(other)).toMatchObject({ requestId: `uid-n1.${NOW}`, claim: { name: 'claim-n1' } });
  });

  it('to drain the node asks under an ID of its own', () => {
    const block = by({ type: 'DrainThenTerminate', timeout: '20m' });
    expect(begun({ block })).toMatchObject({ action: 'Drain', key: 'Drain||1200000', requestId: `uid-n1.${NOW}` });
  });

  it('to launch a replacement names it, another one each time, and the same one where no run launched it', () => {
    const block = by(REPLACE);
    const name = (record: Partial<NodeRecord>) => replacementOf(begun({ block, record }))?.name;
    expect(begun({ block })).toMatchObject({
      action: 'Replace',
      claim: { name: 'claim-n1', uid: 'uid-claim-n1' },
      replacement: { name: 'default-curfew-uid-clai' },
    });
    expect(name({ launched: 1 })).toBe('default-curfew-uid-clai-2');
    const replacement = { name: 'default-curfew-uid-clai' };
    const attempt = anAttempt('n1', {
      action: 'Replace',
      key: 'Replace||900000',
      phase: 'intended',
      time: at(-5),
      replacement,
    });
    expect(name({ launched: 1, number: 1, attempt, incident: { type: 'Ready', taken: [] } })).toBe(replacement.name);
  });

  it('at an instance without a NodeClaim sets no deadline', () => {
    const node = aPoolNode('n1', undefined, { labels: {} });
    const attempt = begun({ node, claim: undefined, block: { nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' } });
    expect(attempt).toMatchObject({ action: 'Terminate', key: 'Terminate||3600000' });
    expect(attempt).not.toHaveProperty('pods');
    expect(attempt.claim).toBeUndefined();
  });

  it.each<[string, string | undefined, Given, object]>([
    ['no time where the entry says none', undefined, {}, { time: NOW, annotation: { set: '2024-11-01T15:32:48Z' } }],
    ['as long as the entry says', '10m', {}, { time: at(10), annotation: { set: TEN_MINUTES } }],
    [
      'as long as the NodeClaim says where that is less',
      '1h',
      { claim: { terminationGracePeriod: minutes(10) } },
      { time: at(10), annotation: { set: TEN_MINUTES } },
    ],
    [
      'until a deadline of somebody else that comes sooner: it stays as it is',
      '1h',
      { claim: { annotations: { [DEADLINE]: TEN_MINUTES } } },
      { time: at(10), annotation: undefined },
    ],
    [
      'until our deadline, instead of a later one of somebody else, which is remembered',
      '10m',
      { claim: { annotations: { [DEADLINE]: '2024-11-01T16:32:48Z' } } },
      { time: at(10), annotation: { set: TEN_MINUTES, previous: '2024-11-01T16:32:48Z' } },
    ],
    [
      'until our deadline, instead of one that nobody can read, which is remembered',
      '10m',
      { claim: { annotations: { [DEADLINE]: 'soon' } } },
      { time: at(10), annotation: { set: TEN_MINUTES, previous: 'soon' } },
    ],
    [
      'until the same deadline where it is that of somebody else',
      '10m',
      { claim: { annotations: { [DEADLINE]: TEN_MINUTES } } },
      { time: at(10), annotation: undefined },
    ],
  ])('leaves the pods %s', (_, terminationGracePeriod, given, pods) => {
    const block = terminationGracePeriod === undefined ? {} : { terminationGracePeriod };
    expect(begun({ block, ...given })).toMatchObject({ pods: { kind: 'until', ...pods } });
  });

  it('to terminate the node knows what takes its place, where that was launched', () => {
    const replacement = { name: 'r1', uid: 'uid-r1' };
    expect(begun({ replacement })).toMatchObject({ action: 'Terminate', replacement });
    expect(begun()).not.toHaveProperty('replacement');
  });

  it('leaves the pods as long as they take where neither entry nor NodeClaim says how long', () => {
    expect(begun({ block: { terminationGracePeriod: 'Inherit' } })).toMatchObject({ pods: { kind: 'unbounded' } });
  });

  describe('that terminates after a drain leaves the pods', () => {
    const key = 'Drain||900000';
    const drain = { type: 'Drain', key, timeout: minutes(15) } as const;
    const answered = (kind: 'failed' | 'succeeded', more: object = {}): Partial<NodeRecord> => ({
      incident: { type: 'Ready', taken: [key] },
      attempt: anAttempt('n1', { action: 'Drain', key, until: at(20), answer: { kind, message: '' }, ...more }),
    });
    const ours = { annotations: { [DEADLINE]: TEN_MINUTES } };
    const annotation = { set: TEN_MINUTES, claim: { name: 'claim-n1', uid: 'uid-claim-n1' } };

    it.each<readonly [string, Partial<NodeRecord>, Partial<NodeClaimView>, FirstHalf, EpochMs]>([
      ['its time, where it could not be asked for', {}, {}, drain, at(15)],
      ['its time within that of the NodeClaim', {}, { terminationGracePeriod: minutes(5) }, drain, at(5)],
      ['what is left of its time, where it failed', answered('failed'), {}, drain, at(20)],
      ['nothing more, where it succeeded', answered('succeeded'), {}, drain, NOW],
      ['nothing more, where another action failed', answered('failed', { key: 'Drain||1' }), {}, drain, NOW],
      ['nothing more, where it was taken', { incident: { type: 'Ready', taken: [key] } }, {}, drain, NOW],
      ['what an earlier try has given them', { leftovers: { annotation } }, ours, drain, at(10)],
      ['nothing more after a launch', {}, {}, { type: 'Replace', key }, NOW],
    ])('%s', (_, record, claim, after, time) => {
      const finding = aFinding(NODE, { now: NOW, claims: [claimOf(NODE, claim)], repair: someRepairInForce() });
      if (!isDueFinding(finding) || finding.verdict.action.type !== 'Terminate')
        throw new Error('no termination is due');
      const verdict = { ...finding.verdict, action: { ...finding.verdict.action, after } };
      const { attempt } = createAttempt({ ...finding, record: remembered(record), verdict }, NOW);
      expect(attempt).toMatchObject({ pods: { kind: 'until', time } });
    });
  });

  describe('I7 of an earlier deadline of ours', () => {
    const set = TEN_MINUTES;
    const previous = '2024-11-01T16:32:48Z';
    const claim = { annotations: { [DEADLINE]: set } };
    const leftovers = { annotation: { set, previous, claim: { name: 'claim-n1', uid: 'uid-claim-n1' } } };
    const attempt = anAttempt('n1', {
      phase: 'intended',
      time: at(-5),
      pods: { kind: 'until', time: at(10), annotation: { set, previous } },
    });

    it.each<[string, Partial<NodeRecord>]>([
      ['that was called off', { leftovers }],
      ['that no run carried out', { number: 1, attempt, incident: { type: 'Ready', taken: [] } }],
    ])('remembers what it replaced: of one %s', (_, record) => {
      const pods = { kind: 'until', time: at(10), annotation: { set, previous } };
      expect(begun({ block: { terminationGracePeriod: '1h' }, claim, record })).toMatchObject({ pods });
      expect(begun({ record, claim })).toMatchObject({
        pods: { kind: 'until', time: NOW, annotation: { set: '2024-11-01T15:32:48Z', previous } },
      });
    });

    it('keeps nothing where somebody else has set another one since', () => {
      const theirs = '2024-11-01T15:47:48Z';
      const since = { annotations: { [DEADLINE]: theirs } };
      expect(begun({ block: { terminationGracePeriod: '1h' }, claim: since, record: { leftovers } })).toMatchObject({
        pods: { kind: 'until', time: at(15), annotation: undefined },
      });
      expect(begun({ block: { terminationGracePeriod: '10m' }, claim: since, record: { leftovers } })).toMatchObject({
        pods: { annotation: { set, previous: theirs } },
      });
    });
  });
});

describe('the outcome of an attempt', () => {
  it('is judged by the cluster once its run must be over, and where EC2 would not say not before it is asked again', () => {
    expect(judgeTime(anAttempt('n1', { time: NOW }))).toBe(at(1));
    const alone = { time: NOW, claim: undefined, askTime: at(7) };
    expect(judgeTime(anAttempt('n1', alone))).toBe(at(7));
    expect(judgeTime(anAttempt('n1', { ...alone, askTime: at(0.5) }))).toBe(at(1));
    expect(judgeTime(anAttempt('n1', { ...alone, askTime: undefined }))).toBe(at(1));
  });

  it('I7 shows the deadline that a termination has set on its NodeClaim, and none where it set none', () => {
    const pods = { kind: 'until' as const, time: at(10), annotation: { set: 'a', previous: 'b' } };
    expect(annotationOf(anAttempt('n1', { pods }))).toEqual({
      set: 'a',
      previous: 'b',
      claim: { name: 'claim-n1', uid: 'uid-claim-n1' },
    });
    for (const attempt of [
      undefined,
      anAttempt('n1', { pods: { kind: 'unbounded' } }),
      anAttempt('n1', { pods: { kind: 'until', time: at(10) } }),
      anAttempt('n1', { action: 'Reboot', pods } as Partial<Attempt>),
      anAttempt('n1', { claim: undefined }),
    ])
      expect(annotationOf(attempt)).toBeUndefined();
  });
});

const LADDER = allActionsOf({ settings: someSettings(by(REBOOT, TERMINATE)) });
const reboot = (more: Partial<Attempt> = {}) =>
  anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', bootID: 'boot-1', phase: 'intended', ...more });
const refusal = { cause: 'request' as const, message: 'no', basis: '', count: 1, firstTime: NOW, lastTime: NOW };
const anAct = (minute: number): Act => ({ key: 'Reboot||600000', action: 'Reboot', time: at(minute) });

describe('an act that is accepted', () => {
  it('is taken, and remembered as the last one of its incident', () => {
    const { attempt, incident, acts, lastIncident } = withAcceptedAttempt(remembered(), reboot(), LADDER);
    expect(attempt?.phase).toBe('accepted');
    expect(incident).toEqual({ type: 'Ready', taken: ['Reboot||600000'] });
    expect(acts).toEqual([{ ...anAct(0), bootID: 'boot-1' }]);
    expect(lastIncident).toEqual({ type: 'Ready', key: 'Reboot||600000', time: NOW });
  });

  it('is taken once, beside what was taken before, and by the entry that decides now', () => {
    const before = { type: 'Disk', taken: ['Fix', 'Reboot||600000'], skippedLaunches: ['Replace'] };
    expect(withAcceptedAttempt(remembered({ incident: before }), reboot(), LADDER).incident).toEqual({
      ...before,
      type: 'Ready',
    });
    expect(
      withAcceptedAttempt(remembered({ incident: { ...before, taken: ['Fix'] } }), reboot(), LADDER).incident?.taken,
    ).toEqual(before.taken);
  });

  it('was not refused after all: the refusals of other actions stay', () => {
    const refusals = { 'Reboot||600000': refusal, other: refusal };
    expect(withAcceptedAttempt(remembered({ refusals }), reboot(), LADDER).refusals).toEqual({ other: refusal });
    expect(
      withAcceptedAttempt(remembered({ refusals: { 'Reboot||600000': refusal } }), reboot(), LADDER),
    ).not.toHaveProperty('refusals');
    expect(withAcceptedAttempt(remembered(), reboot(), LADDER)).not.toHaveProperty('refusals');
    // The termination that follows a launch has its key.
    const launch = anAttempt('n1', { action: 'Replace', key: 'Replace||600000', replacement: { name: 'r1' } });
    expect(
      withAcceptedAttempt(remembered({ refusals: { [launch.key]: refusal, other: refusal } }), launch, LADDER).refusals,
    ).toEqual({ other: refusal });
  });

  it('leaves no request open, and the deadline of an earlier attempt only where it is no termination', () => {
    const annotation = { set: 'a', claim: { name: 'claim-n1', uid: 'uid-claim-n1' } };
    const leftovers = { drain: 'r1', annotation, requested: { key: 'Fix', requestId: 'r2' } };
    expect(withAcceptedAttempt(remembered({ leftovers }), reboot(), LADDER).leftovers).toEqual({
      drain: 'r1',
      annotation,
    });
    expect(withAcceptedAttempt(remembered({ leftovers }), anAttempt('n1'), LADDER).leftovers).toEqual({ drain: 'r1' });
    const { drain: _, ...others } = leftovers;
    expect(withAcceptedAttempt(remembered({ leftovers: others }), anAttempt('n1'), LADDER)).not.toHaveProperty(
      'leftovers',
    );
    const { requested } = leftovers;
    expect(withAcceptedAttempt(remembered({ leftovers: { requested } }), reboot(), LADDER)).not.toHaveProperty(
      'leftovers',
    );
  });

  it('and launches a replacement is not taken: that is so once the replacement is ready', () => {
    const replacement = { name: 'r1' };
    const launch = anAttempt('n1', { action: 'Replace', key: 'Replace||900000', phase: 'intended', replacement });
    const record = remembered({ incident: { type: 'Ready', taken: [] } });
    expect(withAcceptedAttempt(record, launch, LADDER)).toEqual({
      ...record,
      attempt: { ...launch, phase: 'accepted' },
    });
  });

  it('counts for a day, and for as long as an allowance of the list counts', () => {
    const record = remembered({ acts: [anAct(-2 * 24 * 60), anAct(-24 * 60), anAct(1 - 24 * 60), anAct(-1)] });
    const minutesLeft = (within?: string) => {
      const ladder = allActionsOf({ settings: someSettings(by({ ...REBOOT, ...(within && { within }) })) });
      return withAcceptedAttempt(record, reboot(), ladder).acts.map(({ time }) => (time - NOW) / 60_000);
    };
    expect(minutesLeft()).toEqual([1 - 24 * 60, -1, 0]);
    expect(minutesLeft('1h')).toEqual([1 - 24 * 60, -1, 0]);
    expect(minutesLeft('47h')).toEqual([-24 * 60, 1 - 24 * 60, -1, 0]);
    expect(withAcceptedAttempt(record, reboot(), []).acts).toHaveLength(3);
  });

  it('is one of twenty of its kind that are remembered, the largest allowance, and pushes out none of another kind', () => {
    const acts = Array.from({ length: 70 }, (_, index) => anAct(index - 70));
    const others = Array.from({ length: 20 }, (_, index) => ({
      ...anAct(index - 99),
      key: 'CustomResource|fix|1',
      action: 'CustomResource' as const,
    }));
    const kept = withAcceptedAttempt(remembered({ acts: [...others, ...acts] }), reboot(), LADDER).acts;
    expect(kept.filter(({ action }) => action === 'CustomResource')).toHaveLength(20);
    const reboots = kept.filter(({ action }) => action === 'Reboot');
    expect(reboots).toHaveLength(20);
    expect([reboots[0]?.time, reboots.at(-1)?.time]).toEqual([at(-19), NOW]);
  });
});

describe('I7 once an attempt is over, its record names', () => {
  const drain = (phase: Attempt['phase']) =>
    anAttempt('n1', { action: 'Drain', key: 'Drain||600000', phase, requestId: 'r1' });
  const fix = (phase: Attempt['phase']) =>
    anAttempt('n1', { action: 'CustomResource', key: 'Fix', phase, requestId: 'r1' });
  const set = { set: '2024-11-01T15:32:48Z' };
  const claim = { name: 'claim-n1', uid: 'uid-claim-n1' };

  it.each<[string, Attempt, NodeRecord['leftovers']]>([
    ['a drain, which is to be taken back', drain('accepted'), { drain: 'r1' }],
    [
      'a drain that may have been asked for, also to go on with it',
      drain('intended'),
      { drain: 'r1', requested: { key: 'Drain||600000', requestId: 'r1' } },
    ],
    ['a custom resource that may have been made', fix('intended'), { requested: { key: 'Fix', requestId: 'r1' } }],
    ['no custom resource that was made: another field has it', fix('accepted'), undefined],
    ['a deadline that may have been set', anAttempt('n1', { phase: 'intended' }), { annotation: { ...set, claim } }],
    ['no deadline of a termination that goes on', anAttempt('n1'), undefined],
    ['nothing of a reboot', reboot(), undefined],
  ])('%s', (_, attempt, leftovers) => {
    const record = remembered({ attempt, number: 1 });
    const { attempt: __, ...others } = record;
    expect(withoutAttempt(record, attempt)).toEqual({ ...others, ...(leftovers && { leftovers }) });
    const cordoned = { ...record, leftovers: { maintenance: true as const } };
    expect(withoutAttempt(cordoned, attempt).leftovers).toEqual({ maintenance: true, ...leftovers });
  });

  it('no action as taken that was called off, and the others still', () => {
    const attempt = reboot({ phase: 'accepted' });
    const record = remembered({ attempt, incident: { type: 'Ready', taken: ['Fix', 'Reboot||600000'] } });
    const after = withoutCalledOffAttempt(record, attempt);
    expect(after.incident).toEqual({ type: 'Ready', taken: ['Fix'] });
    expect(after.attempt).toBeUndefined();
    expect(withoutCalledOffAttempt(remembered({ attempt }), attempt)).not.toHaveProperty('incident');
  });

  it('the acts but that of the attempt which counts as not made', () => {
    const made = anAttempt('n1', { action: 'Reboot', key: 'Reboot||1', time: at(1) });
    const acts: readonly Act[] = [
      { key: 'Reboot||1', action: 'Reboot', time: at(1) },
      { key: 'Reboot||1', action: 'Reboot', time: at(2) },
      { key: 'Drain||1', action: 'Drain', time: at(1) },
    ];
    expect(withoutAct(remembered({ acts: [...acts] }), made).acts).toEqual(acts.slice(1));
  });

  it('I11 a launch that was taken back as an act: it uses up an attempt', () => {
    const attempt = anAttempt('n1', {
      action: 'Replace',
      key: 'Replace||900000',
      replacement: { name: 'r1' },
    }) as AttemptOf<'Replace'>;
    const after = withoutTakenBackLaunch(remembered({ attempt, acts: [anAct(-1)] }), attempt, LADDER);
    expect(after.acts).toEqual([anAct(-1), { key: 'Replace||900000', action: 'Replace', time: NOW }]);
    expect(after.attempt).toBeUndefined();
    expect(after.incident).toBeUndefined();
  });
});
