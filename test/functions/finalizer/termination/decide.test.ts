import { describe, expect, it } from 'vitest';
import { decide, type TerminationObservation } from '../../../../functions/finalizer/termination/decide.ts';
import type { TerminatedClaim, TerminatedObject } from '../../../../functions/finalizer/termination/rule/objects.ts';
import { addDuration, hours, minutes, seconds } from '../../../../shared/domain/time.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const OURS = 'example.com/custom';
const object = (kind: 'NodeClaim' | 'Node', fields: Partial<TerminatedObject> = {}): TerminatedObject => ({
  kind,
  name: kind === 'Node' ? 'n1' : 'nc1',
  uid: `uid-${kind}`,
  finalizers: [],
  finalizerMark: undefined,
  deletionTime: undefined,
  ...fields,
});
const nodeClaim = (fields: Partial<TerminatedClaim> = {}): TerminatedClaim => ({
  ...object('NodeClaim'),
  isRegistered: true,
  gracePeriod: undefined,
  terminationTimestamp: undefined,
  ...fields,
});
const custom = {
  kind: 'custom',
  mode: 'Enforce',
  isBraked: false,
  settings: { finalizerName: OURS, scope: 'NodeClaimAndNode', builtin: 'Keep', hooks: [], gracePeriod: undefined },
} as const;
const NONE = { kind: 'none', mode: 'Enforce', isBraked: false } as const;
const seen = (fields: Partial<TerminationObservation> = {}): TerminationObservation => ({
  now: NOW,
  claim: nodeClaim(),
  nodes: [object('Node')],
  settings: custom,
  storedDeadline: undefined,
  isDeadlineTakenBack: false,
  isStartReported: false,
  storedNames: [],
  ...fields,
});
const deleted = nodeClaim({ finalizers: [OURS], deletionTime: NOW });
const pool = (period: number, source = 'NodePool default') => ({
  ...custom,
  settings: { ...custom.settings, gracePeriod: { period: seconds(period), source } },
});

describe('while they live', () => {
  it('NodeClaim and Node get the finalizer and its mark, and others keep theirs (I7)', () => {
    expect(decide(seen({ claim: nodeClaim({ finalizers: ['a/b'] }) }))).toMatchObject({
      kind: 'prepare',
      changes: [
        { finalizers: ['a/b', OURS], finalizerMark: OURS },
        { finalizers: [OURS], finalizerMark: OURS },
      ],
    });
  });

  it.each([
    ['NodeClaimAndNode', ['NodeClaim', 'Node']],
    ['NodeOnly', ['Node']],
    ['None', []],
  ] as const)('scope %s puts the finalizer on %j', (scope, kinds) => {
    const decision = decide(seen({ settings: { ...custom, settings: { ...custom.settings, scope } } }));
    expect(decision.kind === 'prepare' ? decision.changes.map(change => change.object.kind) : []).toEqual(kinds);
  });

  it('a marked finalizer goes when no settings apply and another one ends the instance, one of somebody else stays', () => {
    const claim = nodeClaim({ finalizers: [OURS, 'karpenter.sh/termination'], finalizerMark: OURS });
    const node = object('Node', { finalizers: [OURS] });
    expect(decide(seen({ claim, nodes: [node], settings: NONE }))).toMatchObject({
      kind: 'prepare',
      changes: [{ object: claim, finalizers: ['karpenter.sh/termination'], finalizerMark: undefined }],
    });
  });

  it('I1: ours stays when no settings apply and nothing else ends the instance', () => {
    const claim = nodeClaim({ finalizers: [OURS, 'a/b'], finalizerMark: OURS });
    const node = object('Node', { finalizers: ['curfew.dev/termination'] });
    expect(decide(seen({ claim, nodes: [node], settings: NONE }))).toMatchObject({ kind: 'ignore' });
  });

  it("a mark never makes Karpenter's finalizer ours", () => {
    const claim = nodeClaim({
      finalizers: ['karpenter.sh/termination'],
      finalizerMark: 'karpenter.sh/termination',
    });
    expect(decide(seen({ claim, nodes: [], settings: NONE }))).not.toMatchObject({
      changes: [{ finalizers: [] }],
    });
  });
});

describe('while they live, by what is in force', () => {
  const DEFAULT = 'curfew.dev/termination';
  const KARPENTER = 'karpenter.sh/termination';
  const INVALID = { kind: 'invalid', message: 'no block', gracePeriod: undefined } as const;
  const named = (finalizerName: string, scope: 'NodeClaimAndNode' | 'NodeOnly' = 'NodeClaimAndNode') => ({
    ...custom,
    settings: { ...custom.settings, finalizerName, scope },
  });
  const held = nodeClaim({ finalizers: [OURS, KARPENTER], finalizerMark: OURS });
  /** What becomes of a NodeClaim alone. */
  const changed = (
    finalizers: readonly string[],
    mark: string | undefined,
    settings: TerminationObservation['settings'] = custom,
    storedNames: readonly string[] = [],
  ) => {
    const decision = decide(
      seen({ claim: nodeClaim({ finalizers, finalizerMark: mark }), nodes: [], settings, storedNames }),
    );
    return decision.kind === 'prepare'
      ? decision.changes.map(change => [change.finalizers, change.finalizerMark])
      : decision;
  };

  it.each([
    [
      'settings that cannot be read are said',
      { ...INVALID, mode: 'Enforce', isBraked: false },
      { kind: 'refuse', message: 'no block' },
    ],
    ['a block in mode Observe changes nothing', { ...custom, mode: 'Observe' }, { kind: 'ignore', reason: 'HandsOff' }],
    ['what is in place stays', custom, { kind: 'ignore', reason: 'AsWanted' }],
  ] as const)('%s', (_name, settings, decision) => {
    expect(decide(seen({ claim: held, nodes: [], settings }))).toEqual(decision);
  });

  it('what no block asks for any more goes in mode Observe, too, and then nothing is left to do', () => {
    const observed = { ...NONE, mode: 'Observe' } as const;
    expect(changed([OURS, KARPENTER], OURS, observed)).toEqual([[[KARPENTER], undefined]]);
    expect(changed([KARPENTER], undefined, observed)).toEqual({ kind: 'ignore', reason: 'HandsOff' });
  });

  it.each([
    ['somebody took it off: put back', [KARPENTER], OURS, custom, [KARPENTER, OURS], OURS],
    ['another name is asked for', [DEFAULT, KARPENTER], DEFAULT, custom, [KARPENTER, OURS], OURS],
    ['the default name is ours without a mark', [DEFAULT], undefined, custom, [OURS], OURS],
    ['the mark is missing: the order stays', [DEFAULT, 'a/b'], undefined, named(DEFAULT), [DEFAULT, 'a/b'], DEFAULT],
    [
      'a name of before that carries no mark',
      ['old/name', KARPENTER],
      undefined,
      custom,
      ['old/name', KARPENTER, OURS],
      OURS,
    ],
  ] as const)('%s', (_name, before, mark, settings, finalizers, next) => {
    expect(changed(before, mark, settings, ['old/name'])).toEqual([[finalizers, next]]);
  });

  it('a block about Nodes alone leaves NodeClaims as they are', () => {
    const claim = nodeClaim({ finalizers: [KARPENTER] });
    expect(decide(seen({ claim, settings: named(OURS, 'NodeOnly') }))).toMatchObject({
      kind: 'prepare',
      changes: [{ object: { kind: 'Node' }, finalizers: [OURS] }],
    });
  });
});

describe('a deletion', () => {
  const going = object('Node', { finalizers: ['karpenter.sh/termination', OURS], deletionTime: NOW });
  const INVALID = {
    kind: 'invalid',
    message: 'no block',
    gracePeriod: { period: seconds(60), source: 'NodePool default' },
    mode: 'Enforce',
    isBraked: false,
  } as const;
  const deadline = { time: addDuration(NOW, seconds(60)), source: 'NodePool default' };

  it('waits while what it has to do cannot be read, until it has begun or its deadline is there (I6)', () => {
    const unread = seen({ claim: deleted, settings: INVALID, storedNames: [OURS] });
    expect(decide(unread)).toEqual({ kind: 'awaitSettings', message: 'no block', deadline });
    expect(decide({ ...unread, isStartReported: true })).toMatchObject({ kind: 'terminate' });
    expect(decide({ ...unread, now: deadline.time })).toMatchObject({ kind: 'force' });
  });

  it('knows our finalizer by the name in force, the mark, the default and the names of before', () => {
    const names = (settings: TerminationObservation['settings'], mark?: string): unknown =>
      decide(seen({ claim: { ...deleted, finalizerMark: mark }, settings, storedNames: [OURS] }));
    expect(names(NONE)).toMatchObject({ finalizerNames: ['curfew.dev/termination', OURS] });
    expect(names(custom, 'b/marked')).toMatchObject({
      finalizerNames: ['b/marked', 'curfew.dev/termination', OURS],
    });
  });

  it('of a Node without a NodeClaim counts from the first Node that goes, and by the annotation that went with the NodeClaim', () => {
    const later = object('Node', { deletionTime: addDuration(NOW, seconds(30)) });
    const alone = seen({ claim: undefined, nodes: [later, going], settings: pool(60) });
    expect(decide(alone)).toMatchObject({ kind: 'terminate', deadline });
    const storedDeadline = { time: addDuration(NOW, minutes(5)), source: 'annotation' };
    expect(decide({ ...alone, settings: custom, storedDeadline })).toMatchObject({ deadline: storedDeadline });
  });

  it('counts where ours stands beside finalizers of others', () => {
    expect(decide(seen({ claim: undefined, nodes: [going] })).kind).toBe('terminate');
  });

  it('of a Node whose NodeClaim lives counts, registered or not', () => {
    const claim = nodeClaim({ finalizers: [OURS], finalizerMark: OURS });
    const node = object('Node', { deletionTime: NOW });
    for (const isRegistered of [true, false])
      expect(decide(seen({ claim: { ...claim, isRegistered }, nodes: [node] })).kind).toBe('terminate');
  });
});

describe('a NodeClaim that has not registered its Node', () => {
  const claim = nodeClaim({ finalizers: ['karpenter.sh/termination'], deletionTime: NOW });
  const node = object('Node', { finalizers: [OURS], finalizerMark: OURS });

  it('leaves it: its deletion is none of the Node (I4)', () => {
    expect(decide(seen({ claim: { ...claim, isRegistered: false }, nodes: [node] }))).toMatchObject({ kind: 'ignore' });
    expect(decide(seen({ claim, nodes: [node] }))).toMatchObject({ kind: 'terminate' });
    const going = { ...node, deletionTime: NOW };
    expect(decide(seen({ claim: { ...claim, isRegistered: false }, nodes: [going] }))).toMatchObject({
      kind: 'terminate',
    });
  });
});

describe('the deadline', () => {
  const deadlineOf = (fields: Partial<TerminationObservation>, ofClaim: Partial<TerminatedClaim> = {}) => {
    const decision = decide(seen({ claim: { ...deleted, ...ofClaim }, ...fields }));
    return decision.kind === 'terminate' || decision.kind === 'force' ? decision : undefined;
  };

  it("is the annotation's, else the NodeClaim's, else that of NodePool or policy", () => {
    const settings = pool(60);
    const ofClaim = { gracePeriod: minutes(5), terminationTimestamp: '2024-11-01T15:10:00Z' };
    expect(deadlineOf({ settings }, ofClaim)).toMatchObject({
      deadline: { time: addDuration(NOW, minutes(10)), source: 'annotation' },
      badTimestamp: undefined,
    });
    expect(deadlineOf({ settings }, { ...ofClaim, terminationTimestamp: undefined })?.deadline?.source).toBe(
      'NodeClaim',
    );
    expect(deadlineOf({ settings })?.deadline?.source).toBe('NodePool default');
    expect(deadlineOf({})?.deadline).toBeUndefined();
  });

  it('counts as absent when it cannot be read, and says so', () => {
    expect(deadlineOf({ settings: pool(60) }, { terminationTimestamp: 'soon' })).toMatchObject({
      badTimestamp: 'soon',
      deadline: { source: 'NodePool default' },
    });
  });

  it('comes nearer, and moves away only with what set it (I5)', () => {
    const storedDeadline = { time: addDuration(NOW, hours(1)), source: 'NodePool default' };
    expect(deadlineOf({ storedDeadline, settings: pool(60) })?.deadline?.time).toBe(addDuration(NOW, seconds(60)));
    expect(deadlineOf({ storedDeadline, settings: pool(7200) })?.deadline?.time).toBe(addDuration(NOW, hours(2)));
    expect(deadlineOf({ storedDeadline, settings: pool(7200, 'NodeLifecyclePolicy x') })?.deadline).toBe(
      storedDeadline,
    );
    expect(deadlineOf({ storedDeadline, settings: NONE, storedNames: [OURS] })?.deadline).toBe(storedDeadline);
  });

  it('goes back when somebody takes back what set it, the annotation included, and not when that became unreadable', () => {
    const byPool = { time: addDuration(NOW, hours(1)), source: 'NodePool default' };
    const later = { settings: pool(7200, 'NodeLifecyclePolicy x') };
    expect(deadlineOf({ ...later, storedDeadline: byPool, isDeadlineTakenBack: true })?.deadline).toEqual({
      time: addDuration(NOW, hours(2)),
      source: 'NodeLifecyclePolicy x',
    });
    const declared = { time: addDuration(NOW, minutes(1)), source: 'annotation' };
    expect(deadlineOf({ ...later, storedDeadline: declared })?.deadline?.time).toBe(addDuration(NOW, hours(2)));
    expect(deadlineOf({ ...later, storedDeadline: declared }, { terminationTimestamp: 'soon' })?.deadline).toBe(
      declared,
    );
  });

  it('forces from its own instant on', () => {
    const storedDeadline = { time: NOW, source: 'NodePool default' };
    expect(deadlineOf({ storedDeadline })?.kind).toBe('force');
    expect(deadlineOf({ storedDeadline, now: addDuration(NOW, seconds(-1)) })?.kind).toBe('terminate');
  });
});

describe('in mode Observe', () => {
  const INVALID = {
    kind: 'invalid',
    message: 'no block',
    gracePeriod: { period: seconds(0), source: 'NodePool default' },
  } as const;
  const observed = { mode: 'Observe', isBraked: false } as const;
  const braked = { mode: 'Observe', isBraked: true } as const;

  it.each([
    ['a block holds what would begin', { ...custom, ...observed }, false, 'wouldTerminate'],
    ['a block holds what has begun', { ...custom, ...observed }, true, 'wouldTerminate'],
    [
      'a block that cannot be read holds, whatever deadline there is',
      { ...INVALID, ...observed },
      false,
      'wouldTerminate',
    ],
    ['the brake holds what would begin', { ...custom, ...braked }, false, 'wouldTerminate'],
    ['the brake holds what would begin without a block', { kind: 'none', ...braked }, false, 'wouldTerminate'],
    [
      'the brake holds what would begin by a block that cannot be read',
      { ...INVALID, ...braked },
      false,
      'wouldTerminate',
    ],
    ['the brake lets what has begun go on', { ...custom, ...braked }, true, 'terminate'],
    ['the brake lets what has begun go on without a block', { kind: 'none', ...braked }, true, 'terminate'],
  ] as const)('%s', (_name, settings, isStartReported, kind) => {
    expect(decide(seen({ claim: deleted, storedNames: [OURS], settings, isStartReported }))).toMatchObject({ kind });
  });
});
