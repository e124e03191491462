import { describe, expect, it } from 'vitest';
import {
  nextAtPoint,
  ownerByNode,
  unawaitedNews,
  type HookPointEffect,
  type HookPointObservation,
  type NodeHooks,
  type NodeHooksVerdict,
} from '../../../../../functions/finalizer/termination/rule/hooks.ts';
import type { HookProgress } from '../../../../../functions/finalizer/termination/record.ts';
import type { TerminationHook } from '../../../../../shared/domain/termination.ts';
import { hookNamed, hookProgress } from '../../../../builders/hook.ts';

const [a, b] = [hookNamed('a'), hookNamed('b')];
const seen = (fields: Partial<HookPointObservation> = {}): HookPointObservation => ({
  point: 'before-drain',
  hooks: [a, b],
  record: { hooks: {} },
  owner: { kind: 'ours' },
  isForced: false,
  ownership: 'ours',
  karpenter: 'none',
  isEnding: undefined,
  ...fields,
});
const call = (mode: 'awaited' | 'once' | 'forced', ...hooks: readonly TerminationHook[]): HookPointEffect => ({
  kind: 'call',
  hooks,
  mode,
});
const done = { kind: 'done' } as const;
const beside = { karpenter: 'here' } as const;
const forced = { isForced: true } as const;
const unclaimed = { ownership: 'unclaimed' } as const;
const other = { kind: 'underWay', termination: 'NodeClaim nc2' } as const;
const ended = (state: Record<string, HookProgress>, said = false): HookPointObservation['record'] => ({
  hooks: state,
  ...(said && { reportedHookPoints: ['before-drain'] }),
});
const once = { unawaited: 'once' } as const;

describe('hooks', () => {
  it.each<[string, Partial<HookPointObservation>, HookPointEffect]>([
    ['are awaited where we end the instance', {}, call('awaited', a, b)],
    ['are called once beside Karpenter', beside, call('once', a, b)],
    [
      'are called once beside Karpenter before the end, too',
      { ...beside, point: 'before-terminate' },
      call('once', a, b),
    ],
    [
      'are awaited after the end, also beside Karpenter',
      { ...beside, point: 'after-terminate' },
      call('awaited', a, b),
    ],
    ['depend on the instance where Karpenter may have gone', { karpenter: 'mayHaveGone' }, { kind: 'lookAtInstance' }],
    ['are awaited where it runs', { karpenter: 'mayHaveGone', isEnding: false }, call('awaited', a, b)],
    ['are called once where it has ended', { karpenter: 'mayHaveGone', isEnding: true }, call('once', a, b)],
    [
      'are awaited where one of them was when it ended',
      { karpenter: 'mayHaveGone', isEnding: true, record: { hooks: { a: hookProgress('succeeded') } } },
      call('awaited', a, b),
    ],
    [
      'are called once where one of them was, beside a Karpenter that has gone since',
      { karpenter: 'mayHaveGone', isEnding: true, record: { hooks: { a: hookProgress('succeeded', once) } } },
      call('once', a, b),
    ],
    [
      'are called once beside Karpenter, whatever was awaited before it came',
      { ...beside, record: { hooks: { a: hookProgress('succeeded') } } },
      call('once', a, b),
    ],
    [
      'are awaited after the instance has ended, no matter who ended it',
      { karpenter: 'mayHaveGone', point: 'after-terminate' },
      call('awaited', a, b),
    ],
    ['are forced at the deadline', forced, call('forced', a, b)],
    ['are forced at the deadline beside Karpenter', { ...beside, ...forced }, call('forced', a, b)],
    ['are never called without an instance', { ownership: 'none' }, call('awaited')],
    ['are never called for an instance that another NodeClaim has', { ownership: 'shared' }, call('awaited')],
    ['are never called for it at the deadline, either', { ownership: 'shared', ...forced }, call('awaited')],
    [
      'that are at work go on when another NodeClaim has the instance meanwhile',
      { ownership: 'shared', record: { hooks: { b: hookProgress('pending') } } },
      call('awaited', b),
    ],
    ['of a Node alone depend on its instance', unclaimed, { kind: 'lookAtInstance' }],
    ['are never called for a Node whose instance runs on', { ...unclaimed, isEnding: false }, call('awaited')],
    ['are called for a Node whose instance ends', { ...unclaimed, isEnding: true }, call('awaited', a, b)],
    [
      'wait for another termination that calls them',
      { owner: other },
      {
        kind: 'wait',
        on: 'the hooks are called in the termination of NodeClaim nc2',
      },
    ],
    ['do not wait for it at the deadline', { owner: other, ...forced }, done],
    ['are done where they were called in another termination', { owner: { kind: 'over' } }, done],
    ['go on without an instance, whoever calls them', { owner: { kind: 'over' }, ownership: 'none' }, call('awaited')],
  ])('%s', (_, fields, effect) => {
    expect(nextAtPoint(seen(fields))).toEqual(effect);
  });
});

describe('a point', () => {
  it.each<[string, boolean, Partial<HookPointObservation>]>([
    ['without hooks', true, { hooks: [], ...unclaimed }],
    [
      'whose hooks have answered or were passed',
      true,
      {
        record: ended({ a: hookProgress('succeeded'), b: hookProgress('passed') }),
      },
    ],
    [
      'one of whose hooks has not',
      false,
      { record: ended({ a: hookProgress('succeeded'), b: hookProgress('pending') }) },
    ],
    [
      'whose hooks were called in any way, at the deadline',
      true,
      {
        record: ended({ a: hookProgress('pending'), b: hookProgress('failed') }),
        ...forced,
      },
    ],
    [
      'one of whose calls may not have been made, at the deadline',
      false,
      {
        record: ended({ a: hookProgress('pending'), b: hookProgress('intended') }),
        ...forced,
      },
    ],
    [
      'whose unawaited hooks were called, which was said',
      true,
      {
        record: ended({ a: hookProgress('pending', once), b: hookProgress('failed', once) }, true),
      },
    ],
    [
      'whose unawaited hooks were called, which was not said',
      false,
      {
        record: ended({ a: hookProgress('pending', once), b: hookProgress('failed', once) }),
      },
    ],
    [
      'one of whose unawaited hooks came later',
      false,
      {
        record: ended({ a: hookProgress('pending', once), b: hookProgress('intended', once) }, true),
      },
    ],
  ])('%s: done %s', (_, isDone, fields) => {
    expect(nextAtPoint(seen(fields)).kind === 'done').toBe(isDone);
  });

  it('takes a hook by its own name only', () => {
    expect(nextAtPoint(seen({ hooks: [hookNamed('constructor')], ...forced })).kind).toBe('call');
  });
});

describe('what is said of hooks that nothing waited for', () => {
  const forcedOne = { unawaited: 'forced' } as const;
  it.each<[string, HookPointObservation['record'], ReturnType<typeof unawaitedNews>]>([
    ['is nothing where there are none', ended({ a: hookProgress('succeeded') }), undefined],
    ['is said once', ended({ a: hookProgress('pending', once) }, true), undefined],
    [
      'names those that were called, and those that were not with the reason',
      ended({ a: hookProgress('pending', once), b: hookProgress('failed', { ...once, message: 'no function' }) }),
      { how: 'once', called: ['a'], uncalled: ['b (no function)'] },
    ],
    [
      'is that of a deadline as soon as one was forced',
      ended({ a: hookProgress('succeeded', once), b: hookProgress('passed', { ...forcedOne, message: 'no time' }) }),
      { how: 'forced', called: ['a'], uncalled: ['b (no time)'] },
    ],
    [
      'leaves out one that was waited for',
      ended({ a: hookProgress('pending'), b: hookProgress('pending', forcedOne) }),
      { how: 'forced', called: ['b'], uncalled: [] },
    ],
  ])('%s', (_, record, news) => {
    expect(unawaitedNews('before-drain', [a, b], record)).toEqual(news);
  });
});

describe('the hooks of a NodeClaim, by the record of its Node', () => {
  const ELSEWHERE: NodeHooksVerdict = { kind: 'elsewhere', ownerUid: 'other' };
  const ours = (notes: boolean, goesOn: boolean): NodeHooksVerdict => ({ kind: 'ours', notes, goesOn });
  it.each<readonly [string, Partial<NodeHooks>, NodeHooksVerdict]>([
    ['are noted where nothing is', {}, ours(true, false)],
    ['are noted, and go on with calls that the Node has made', { isReported: true, isCalled: true }, ours(true, true)],
    ['are noted, and go on with calls that another run left', { isCalled: true }, ours(true, true)],
    ['belong to the Node where its termination has begun, and called none', { isReported: true }, { kind: 'ofNode' }],
    ['are called where that is noted', { ownerUid: 'own' }, ours(false, false)],
    [
      'are called where that is noted, though the Node has begun',
      { ownerUid: 'own', isReported: true },
      ours(false, false),
    ],
    ['go on where that is noted', { ownerUid: 'own', isCalled: true }, ours(false, true)],
    ['are elsewhere where another NodeClaim is noted', { ownerUid: 'other' }, ELSEWHERE],
    ['are elsewhere, called or not', { ownerUid: 'other', isReported: true, isCalled: true }, ELSEWHERE],
  ])('%s', (_, fields, expected) => {
    expect(ownerByNode({ ownerUid: undefined, isReported: false, isCalled: false, ...fields }, 'own')).toEqual(
      expected,
    );
  });
});
