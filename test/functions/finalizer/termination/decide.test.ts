import { describe, expect, it } from 'vitest';
import {
  decide,
  type TerminatedObject,
  type TerminationObservation,
} from '../../../../functions/finalizer/termination/decide.ts';
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
const custom = {
  kind: 'custom',
  mode: 'Enforce',
  isBraked: false,
  settings: { finalizerName: OURS, scope: 'NodeClaimAndNode', builtin: 'Keep', hooks: [], gracePeriod: undefined },
} as const;
const NONE = { kind: 'none', mode: 'Enforce', isBraked: false } as const;
const seen = (fields: Partial<TerminationObservation> = {}): TerminationObservation => ({
  now: NOW,
  claim: object('NodeClaim'),
  isRegistered: true,
  claimGracePeriod: undefined,
  terminationTimestamp: undefined,
  nodes: [object('Node')],
  settings: custom,
  storedDeadline: undefined,
  isDeadlineTakenBack: false,
  hasBegun: false,
  storedNames: [],
  ...fields,
});
const deleted = object('NodeClaim', { finalizers: [OURS], deletionTime: NOW });
const pool = (period: number, source = 'NodePool default') => ({
  ...custom,
  settings: { ...custom.settings, gracePeriod: { period: seconds(period), source } },
});

describe('while they live', () => {
  it('NodeClaim and Node get the finalizer and its mark, and others keep theirs (I7)', () => {
    expect(decide(seen({ claim: object('NodeClaim', { finalizers: ['a/b'] }) }))).toMatchObject({
      kind: 'prepare',
      changes: [
        { finalizers: ['a/b', OURS], finalizerMark: OURS },
        { finalizers: [OURS], finalizerMark: OURS },
      ],
    });
  });

  it('a marked finalizer goes when no settings apply and another one ends the instance, one of somebody else stays', () => {
    const claim = object('NodeClaim', { finalizers: [OURS, 'karpenter.sh/termination'], finalizerMark: OURS });
    const node = object('Node', { finalizers: [OURS] });
    expect(decide(seen({ claim, nodes: [node], settings: NONE }))).toMatchObject({
      kind: 'prepare',
      changes: [{ object: claim, finalizers: ['karpenter.sh/termination'], finalizerMark: undefined }],
    });
  });

  it('I1: ours stays when no settings apply and nothing else ends the instance', () => {
    const claim = object('NodeClaim', { finalizers: [OURS, 'a/b'], finalizerMark: OURS });
    const node = object('Node', { finalizers: ['curfew.dev/termination'] });
    expect(decide(seen({ claim, nodes: [node], settings: NONE }))).toMatchObject({ kind: 'ignore' });
  });

  it("a mark never makes Karpenter's finalizer ours", () => {
    const claim = object('NodeClaim', {
      finalizers: ['karpenter.sh/termination'],
      finalizerMark: 'karpenter.sh/termination',
    });
    expect(decide(seen({ claim, nodes: [], settings: NONE }))).not.toMatchObject({
      changes: [{ finalizers: [] }],
    });
  });
});

describe('a NodeClaim that has not registered its Node', () => {
  const claim = object('NodeClaim', { finalizers: ['karpenter.sh/termination'], deletionTime: NOW });
  const node = object('Node', { finalizers: [OURS], finalizerMark: OURS });

  it('leaves it: its deletion is none of the Node (I4)', () => {
    expect(decide(seen({ claim, nodes: [node], isRegistered: false }))).toMatchObject({ kind: 'ignore' });
    expect(decide(seen({ claim, nodes: [node] }))).toMatchObject({ kind: 'terminate' });
    const going = { ...node, deletionTime: NOW };
    expect(decide(seen({ claim, nodes: [going], isRegistered: false }))).toMatchObject({ kind: 'terminate' });
  });
});

describe('the deadline', () => {
  const deadlineOf = (fields: Partial<TerminationObservation>) => {
    const decision = decide(seen({ claim: deleted, ...fields }));
    return decision.kind === 'terminate' ? decision : undefined;
  };

  it("is the annotation's, else the NodeClaim's, else that of NodePool or policy", () => {
    const all = { settings: pool(60), claimGracePeriod: minutes(5), terminationTimestamp: '2024-11-01T15:10:00Z' };
    expect(deadlineOf(all)?.deadline).toEqual({ time: addDuration(NOW, minutes(10)), source: 'annotation' });
    expect(deadlineOf({ ...all, terminationTimestamp: undefined })?.deadline?.source).toBe('NodeClaim');
    expect(deadlineOf({ settings: pool(60) })?.deadline?.source).toBe('NodePool default');
    expect(deadlineOf({})?.deadline).toBeUndefined();
  });

  it('counts as absent when it cannot be read, and says so', () => {
    expect(deadlineOf({ terminationTimestamp: 'soon', settings: pool(60) })).toMatchObject({
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
    expect(deadlineOf({ ...later, storedDeadline: declared, terminationTimestamp: 'soon' })?.deadline).toBe(declared);
  });

  it('forces from its own instant on', () => {
    const storedDeadline = { time: NOW, source: 'NodePool default' };
    expect(deadlineOf({ storedDeadline })?.isForced).toBe(true);
    expect(deadlineOf({ storedDeadline, now: addDuration(NOW, seconds(-1)) })?.isForced).toBe(false);
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
  ] as const)('%s', (_name, settings, hasBegun, kind) => {
    expect(decide(seen({ claim: deleted, storedNames: [OURS], settings, hasBegun }))).toMatchObject({ kind });
  });
});
