import { describe, expect, it } from 'vitest';
import {
  decide,
  IDLE_CHECK,
  MAX_OBJECTS_PER_RUN,
  type GracePeriodDecision,
  type GracePeriodObservation,
} from '../../../functions/grace-period/decide.ts';
import type { NodeChange } from '../../../functions/grace-period/rule/node-change.ts';
import { addDuration, hours, minutes } from '../../../shared/domain/time.ts';
import { aPod, aPolicy, CREATED } from '../../builders/pods.ts';
import { at } from '../../builders/repair.ts';

const END = '2024-01-01T14:00:00Z';
const REFUSED = {
  cause: 'request',
  message: 'no',
  basis: 'as it is',
  count: 1,
  firstTime: CREATED,
  lastTime: CREATED,
} as const;

function check(overrides: Partial<GracePeriodObservation> = {}): GracePeriodDecision {
  return decide({
    now: CREATED,
    node: { name: 'n1', uid: 'uid-n1', doNotDisrupt: undefined, protectedUntil: undefined },
    pods: [aPod('4h')],
    policy: aPolicy(),
    policyName: undefined,
    observedProtection: undefined,
    record: { announcedKeys: {} },
    basis: 'as it is',
    ...overrides,
  });
}

type Keep = Extract<GracePeriodDecision, { kind: 'keep' }>;

function kept(overrides: Partial<GracePeriodObservation> = {}): Keep {
  const decision = check(overrides);
  if (decision.kind !== 'keep') throw new Error(`the record is not kept: ${decision.kind}`);
  return decision;
}

describe('the annotations on the node', () => {
  const leave: NodeChange = { kind: 'leave' };
  const hold: NodeChange = { kind: 'hold', until: END, reason: 'PodsProtected' };
  const restore: NodeChange = { kind: 'hold', until: END, reason: 'AnnotationRemoved' };
  const release: NodeChange = { kind: 'release', reason: 'NothingProtected' };
  const disown: NodeChange = { kind: 'disown', reason: 'AnnotationTakenOver' };

  interface Row {
    readonly whose: string;
    readonly doNotDisrupt: string | undefined;
    readonly mark: string | undefined;
    readonly protectedPods: NodeChange;
    readonly none: NodeChange;
  }
  const rows: readonly Row[] = [
    { whose: "nobody's", doNotDisrupt: undefined, mark: undefined, protectedPods: hold, none: leave },
    { whose: 'theirs', doNotDisrupt: 'true', mark: undefined, protectedPods: leave, none: leave },
    {
      whose: 'theirs, off',
      doNotDisrupt: 'false',
      mark: undefined,
      protectedPods: leave,
      none: leave,
    },
    { whose: 'ours', doNotDisrupt: 'true', mark: END, protectedPods: leave, none: release },
    { whose: 'ours, other end', doNotDisrupt: 'true', mark: 'x', protectedPods: hold, none: release },
    {
      whose: 'ours, removed',
      doNotDisrupt: undefined,
      mark: END,
      protectedPods: restore,
      none: release,
    },
    { whose: 'ours, edited', doNotDisrupt: '', mark: END, protectedPods: disown, none: disown },
  ];
  it.each(rows)('$whose', ({ doNotDisrupt, mark, ...expected }) => {
    const node = { name: 'n1', uid: 'uid-n1', doNotDisrupt, protectedUntil: mark };
    expect(check({ node }).node).toEqual(expected.protectedPods);
    expect(check({ node, pods: [] }).node).toEqual(expected.none);
    // Whatever a block says that is only observed, no hold changes by it.
    const observedProtection = { policy: aPolicy({ maxDuration: hours(1) }), source: 'NodeLifecyclePolicy trial' };
    expect(check({ node, observedProtection }).node).toEqual(expected.protectedPods);
  });

  it.each<readonly [value: string | undefined, said: readonly string[]]>([
    [undefined, []],
    ['true', []],
    [
      'false',
      [
        'karpenter.sh/do-not-disrupt: "false" on the node is not Curfew\'s and is left alone: Karpenter may disrupt pods that are protected until 2024-01-01T14:00:00Z',
      ],
    ],
  ])('of the value %s on the node is said', (doNotDisrupt, said) => {
    const node = { name: 'n1', uid: 'uid-n1', doNotDisrupt, protectedUntil: undefined };
    const ofNode = kept({ node }).announcements.filter(({ topic }) => topic === 'notOurs');
    expect(ofNode.map(({ message }) => message)).toEqual(said);
  });

  it('counts as the next end that of the protection that ends first, and none of one without end', () => {
    expect(check({ pods: [aPod('4h'), aPod('1h'), aPod('4d')] }).counts.nextExpiry).toBe(
      addDuration(CREATED, hours(1)),
    );
    expect(check({ pods: [aPod('4d')] }).counts.nextExpiry).toBeUndefined();
  });

  it('counts the pods whose protection runs apart from those whose protection has ended', () => {
    const pods = [aPod('30m'), aPod('1h'), aPod('4h'), aPod('4d'), aPod(undefined)];
    expect(check({ pods, now: addDuration(CREATED, hours(1)) }).counts).toEqual({
      protectedPods: 2,
      elapsedPods: 2,
      nextExpiry: at(END),
    });
  });

  it('says of an annotation that is not its own what that leaves without protection, if anything', () => {
    const node = { name: 'n1', uid: 'uid-n1', doNotDisrupt: 'false', protectedUntil: undefined };
    const ofNode = (value: string): readonly string[] =>
      kept({ node, pods: [aPod(value)] })
        .announcements.filter(({ topic }) => topic === 'notOurs')
        .map(({ message }) => message);
    expect(ofNode('4d')).toEqual([expect.stringMatching(/pods that are protected without end$/)]);
    expect(ofNode('true')).toEqual([]);
  });

  it('an annotation that protects nothing has not ended', () => {
    const policy = aPolicy({ compatibility: 'Karpenter' });
    expect(check({ policy, pods: [aPod('4d')] }).counts).toMatchObject({ protectedPods: 0, elapsedPods: 0 });
  });

  it('the release says whether a protection has ended, or its pod has gone', () => {
    const node = { name: 'n1', uid: 'uid-n1', doNotDisrupt: 'true', protectedUntil: END };
    expect(check({ node, now: at(END) }).node).toEqual({ kind: 'release', reason: 'GracePeriodElapsed' });
    expect(check({ node, now: at(END), pods: [aPod('true')] }).node).toEqual({
      kind: 'release',
      reason: 'ProtectedByKarpenter',
    });
  });

  it.each<
    readonly [string, Pick<GracePeriodObservation['node'], 'doNotDisrupt' | 'protectedUntil'>, NodeChange, NodeChange]
  >([
    [
      'our mark joins its annotation, and is not needed without pods',
      { doNotDisrupt: 'true', protectedUntil: undefined },
      hold,
      leave,
    ],
    [
      'our mark goes alone',
      { doNotDisrupt: 'true', protectedUntil: END },
      leave,
      { kind: 'disown', reason: 'ReplacementHeld' },
    ],
    ['what somebody wrote over it stays', { doNotDisrupt: 'false', protectedUntil: undefined }, leave, leave],
  ])('on a replacement that repair holds, too, %s', (_name, annotations, protectedPods, none) => {
    const node = { name: 'n1', uid: 'uid-n1', isReplacement: true, ...annotations };
    expect(check({ node }).node).toEqual(protectedPods);
    expect(check({ node, pods: [] }).node).toEqual(none);
  });

  it.each([
    ['the latest end', ['1h', '4h', '2h'], END],
    ['"indefinite" when one is without end', ['4h', '4d'], 'indefinite'],
    ['ends below a second, exactly', ['1500ms'], '2024-01-01T10:00:01.500Z'],
  ])('the mark says %s', (_name, values, until) => {
    const pods = values.map((value, index) => aPod(value, { name: `pod-${index}` }));
    expect(check({ pods }).node).toMatchObject({ kind: 'hold', until });
  });

  it('plain "true" holds nothing, capped or not', () => {
    const policy = aPolicy({ maxDuration: hours(1) });
    expect(check({ pods: [aPod('true')] }).node).toEqual(leave);
    expect(check({ pods: [aPod('true')], policy }).node).toEqual(leave);
  });
});

describe('the timer', () => {
  it.each([
    ['the next end', ['4h', '2h'], addDuration(CREATED, hours(2))],
    ['a day, with nothing due before', ['true', '48h'], addDuration(CREATED, IDLE_CHECK)],
    ['the next end, beside a pod without one', ['true', '2h'], addDuration(CREATED, hours(2))],
    ['the last of the ends within a second', ['2h', '2h500ms', '2h999ms', '2h1s'], at('2024-01-01T12:00:00.999Z')],
    ['each of those that are a second apart', ['2h1s', '2h'], at('2024-01-01T12:00:00Z')],
  ])('is set to %s', (_name, values, wakeTime) => {
    const pods = values.map((value, index) => aPod(value, { name: `pod-${index}` }));
    expect(kept({ pods }).outcome.wakeTime).toBe(wakeTime);
  });

  it('comes first for the warning, then for the end', () => {
    const policy = aPolicy({ warnBefore: minutes(30) });
    expect(kept({ policy }).outcome.wakeTime).toBe(at('2024-01-01T13:30:00Z'));
    expect(kept({ policy, now: at('2024-01-01T13:30:00Z') }).outcome.wakeTime).toBe(at(END));
  });

  it('has nothing to warn of where a protection has no end', () => {
    const policy = aPolicy({ warnBefore: minutes(30) });
    expect(kept({ policy, pods: [aPod('4d')] }).outcome.wakeTime).toBe(addDuration(CREATED, IDLE_CHECK));
  });

  it('is not needed without annotated pods', () => {
    expect(check({ pods: [aPod(undefined)] }).kind).toBe('close');
    expect(check({ pods: [aPod('4h', { phase: 'Succeeded' })] }).kind).toBe('close');
  });
});

describe('announcements', () => {
  const now = at(END);
  const due = kept({ now });

  it('leave the timer due until they are made, so that the sweep makes up for a run that dies', () => {
    expect(due.announcements.map(({ topic }) => topic)).toEqual(['elapsed']);
    expect(due.intent).toEqual({ record: { announcedKeys: {} }, wakeTime: now });
    expect(due.outcome).toEqual({
      record: { announcedKeys: { 'uid-web-0': { elapsed: END } } },
      wakeTime: addDuration(now, IDLE_CHECK),
    });
  });

  it('do not repeat an end that other settings make earlier; they tell of a later one', () => {
    const topicsAfter = (elapsed: string): readonly string[] =>
      kept({ now, record: { announcedKeys: { 'uid-web-0': { elapsed } } } }).announcements.map(({ topic }) => topic);
    expect(topicsAfter('2024-01-01T15:00:00Z')).toEqual([]);
    expect(topicsAfter(END)).toEqual([]);
    expect(topicsAfter('2024-01-01T13:59:59Z')).toEqual(['elapsed']);
  });

  it('are about 25 objects a run at most; a wake-up at once brings the run that makes the others', () => {
    const pods = Array.from({ length: 2 * MAX_OBJECTS_PER_RUN + 1 }, (_, index) =>
      aPod('4h', { name: `pod-${index}` }),
    );
    const first = kept({ now, pods });
    expect(first.announcements).toHaveLength(MAX_OBJECTS_PER_RUN);
    expect(first.outcome.wakeTime).toBe(now);
    const second = kept({ now, pods, record: first.outcome.record });
    const third = kept({ now, pods, record: second.outcome.record });
    expect(third.announcements).toHaveLength(1);
    expect(third.outcome.wakeTime).toBe(addDuration(now, IDLE_CHECK));
    expect(Object.keys(third.outcome.record.announcedKeys)).toHaveLength(pods.length);
  });

  it('wait in no timer that is ahead: also where another end comes later, the intent is due at once', () => {
    const { intent, outcome } = kept({ now, pods: [aPod('4h'), aPod('8h', { name: 'late' })] });
    expect(intent.wakeTime).toBe(now);
    expect(outcome.wakeTime).toBe(addDuration(now, hours(4)));
  });

  it('are made once', () => {
    expect(kept({ now, record: due.outcome.record }).announcements).toEqual([]);
  });

  it('that are not needed leave the record as it is, and the timer for the next end', () => {
    const record = { announcedKeys: { 'uid-gone': { elapsed: END } } };
    const { intent, outcome } = kept({ record });
    expect(intent).toStrictEqual({ record, wakeTime: at(END) });
    expect(outcome).toStrictEqual(intent);
  });

  it('of a pod that is gone are forgotten with those that are made, and none of the node', () => {
    const announcedKeys = { 'uid-gone': { elapsed: END }, 'uid-n1': { notOurs: '"false"' } };
    const { intent, outcome } = kept({ now, record: { announcedKeys } });
    expect(intent.record.announcedKeys).toEqual({ 'uid-n1': { notOurs: '"false"' } });
    expect(outcome.record.announcedKeys).toEqual({ 'uid-n1': { notOurs: '"false"' }, 'uid-web-0': { elapsed: END } });
  });

  it('leave in the record what is known of refusals and of a quarrel', () => {
    const known = { effort: { times: 1, lastTime: CREATED }, refusals: { release: REFUSED } };
    const { intent, outcome } = kept({ now, record: { announcedKeys: {}, ...known } });
    expect(intent.record).toStrictEqual({ announcedKeys: {}, ...known });
    expect(outcome.record).toStrictEqual({ announcedKeys: { 'uid-web-0': { elapsed: END } }, ...known });
  });

  it('of one pod do not keep the node from being held for another', () => {
    const pods = [aPod('4h'), aPod('8h', { name: 'late' })];
    expect(kept({ now, pods }).node).toMatchObject({ kind: 'hold', until: '2024-01-01T18:00:00Z' });
  });
});

describe('a change of the node that the API server refuses', () => {
  const record = { announcedKeys: {}, refusals: { release: REFUSED } };
  const held = { name: 'n1', uid: 'uid-n1', doNotDisrupt: 'true', protectedUntil: END };

  it('is tried again, though no annotated pod is left: the node would stay held', () => {
    const { node, outcome } = kept({ pods: [], node: held, record });
    expect({ node, wakeTime: outcome.wakeTime }).toEqual({
      node: { kind: 'leave' },
      wakeTime: addDuration(CREATED, minutes(1)),
    });
    const later = addDuration(CREATED, minutes(1));
    expect(check({ now: later, pods: [], node: held, record })).toMatchObject({
      kind: 'close',
      node: { kind: 'release' },
    });
  });

  it('is tried at once when the Node or its settings are not what they were', () => {
    expect(check({ pods: [], node: held, record, basis: 'another' })).toMatchObject({ node: { kind: 'release' } });
  });

  it('is forgotten when somebody else has made it', () => {
    expect(check({ pods: [], record })).toMatchObject({ kind: 'close', node: { kind: 'leave' } });
  });

  it('is not said of one that waits because somebody removes the annotation again and again', () => {
    const node = { ...held, doNotDisrupt: undefined };
    const quarrel = { announcedKeys: {}, effort: { times: 3, lastTime: CREATED } };
    expect(kept({ node, record: quarrel })).toMatchObject({ node: { kind: 'leave' }, announcements: [] });
  });
});

describe('a block in mode Observe', () => {
  const trial = { policy: aPolicy({ maxDuration: hours(1) }), source: 'NodeLifecyclePolicy trial' };

  it('is said of each pod whose protection it would change', () => {
    expect(kept({ observedProtection: trial }).announcements).toMatchObject([
      {
        topic: 'observed',
        about: { kind: 'Pod' },
        message:
          'karpenter.sh/do-not-disrupt: "4h" protects until 2024-01-01T14:00:00Z; in mode Enforce NodeLifecyclePolicy trial would make that until 2024-01-01T11:00:00Z',
      },
    ]);
    expect(kept({ observedProtection: trial, pods: [aPod('30m')] }).announcements).toEqual([]);
  });

  it('may take a protection away altogether, and may have no name', () => {
    const observedProtection = { policy: aPolicy({ compatibility: 'Karpenter' }), source: undefined };
    const { announcements } = kept({ observedProtection, pods: [aPod('4d')] });
    expect(announcements.filter(({ topic }) => topic === 'observed').map(({ message }) => message)).toEqual([
      'karpenter.sh/do-not-disrupt: "4d" protects without end; in mode Enforce the policy would make that not at all',
    ]);
  });

  it('ends no protection and holds none longer', () => {
    const now = addDuration(CREATED, hours(2));
    expect(kept({ observedProtection: trial, now }).node).toMatchObject({ kind: 'hold', until: END });
    const longer = { policy: aPolicy(), source: 'NodeLifecyclePolicy trial' };
    const policy = aPolicy({ maxDuration: hours(1) });
    expect(kept({ observedProtection: longer, policy, now }).node).toEqual({ kind: 'leave' });
  });
});
