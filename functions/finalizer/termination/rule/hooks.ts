/**
 * Hooks that are called at one point of a termination, and whether anything waits for them. Under the deadline nothing does; while Karpenter's
 * finalizer is on the NodeClaim, Karpenter drains and ends the instance by itself, so only what comes after that can delay anything. The same
 * holds once Karpenter has ended it and gone. Where no instance ends with the termination, nothing is called. Pure: no I/O, no clock.
 */
import type { HookPoint, TerminationHook } from '../../../../shared/domain/termination.ts';
import type { HookProgress, TerminationRecord } from '../record.ts';
import type { HookObservation, UnawaitedReason } from './hook.ts';
import { lastMessageOf, progressOf, reasonNotAwaited } from './hook-progress.ts';
import type { InstanceOwnership } from './instance.ts';

/**
 * `ours`: they are called here; `changed`: another run was faster; `underWay`: in another termination, which has not ended;
 * `over`: they were called in one that has.
 */
export type HookOwner =
  { readonly kind: 'ours' | 'changed' | 'over' } | { readonly kind: 'underWay'; readonly termination: string };

/** Hooks of an instance, by the record of its Node. */
export interface NodeHooks {
  /** UID of the NodeClaim in whose termination they are noted to be called. */
  readonly ownerUid: string | undefined;
  /** The Node has begun a termination of its own. */
  readonly isReported: boolean;
  readonly isCalled: boolean;
}

/** `elsewhere`: they are another NodeClaim's; `ofNode`: the Node's own; `ours`: this one calls them. */
export type NodeHooksVerdict =
  | { readonly kind: 'elsewhere'; readonly ownerUid: string }
  | { readonly kind: 'ofNode' }
  /** `notes`: that is to be noted first; `goesOn`: with calls that were made, of which there is one list for the instance. */
  | { readonly kind: 'ours'; readonly notes: boolean; readonly goesOn: boolean };

/** Whether the termination of a NodeClaim may call the hooks, by the record of one of its Nodes (I4). */
export function ownerByNode({ ownerUid, isReported, isCalled }: NodeHooks, claimUid: string): NodeHooksVerdict {
  if (ownerUid !== undefined && ownerUid !== claimUid) return { kind: 'elsewhere', ownerUid };
  // It began when no NodeClaim was seen to stand for it.
  if (ownerUid === undefined && isReported && !isCalled) return { kind: 'ofNode' };
  return { kind: 'ours', notes: ownerUid === undefined, goesOn: isCalled };
}

/**
 * `here`: its finalizer is on the NodeClaim, too; `mayHaveGone`: it may have been, for nothing took its place and this termination has not asked
 * for the end of the instance.
 */
export type KarpenterPresence = 'here' | 'mayHaveGone' | 'none';

export interface HookPointObservation {
  readonly point: HookPoint;
  /** Hooks of that point, in the order of the policy. */
  readonly hooks: readonly TerminationHook[];
  readonly record: Pick<TerminationRecord, 'hooks' | 'reportedHookPoints'>;
  readonly owner: HookOwner;
  readonly isForced: boolean;
  readonly ownership: InstanceOwnership;
  readonly karpenter: KarpenterPresence;
  /** Whether an instance is about to end or has ended, which no NodeClaim has, or Karpenter may have ended; undefined: that was not looked at. */
  readonly isEnding: boolean | undefined;
}

export type HookPointEffect =
  | { readonly kind: 'done' | 'lookAtInstance' }
  | { readonly kind: 'wait'; readonly on: string }
  /** Each hook is called in its turn. */
  | { readonly kind: 'call'; readonly hooks: readonly TerminationHook[]; readonly mode: HookObservation['mode'] };

export function nextAtPoint(observation: HookPointObservation): HookPointEffect {
  const { point, hooks, record, owner, isForced, ownership, isEnding } = observation;
  if (hooks.every(hook => isHookDone(observation, hook))) return { kind: 'done' };
  if (ownership === 'unclaimed' && isEnding === undefined) return { kind: 'lookAtInstance' };
  // A Node that no NodeClaim stands for ends no instance, but goes after one that has ended.
  if (ownership !== 'ours' && isEnding !== true) {
    // One that is at work goes on, whatever became of the NodeClaim meanwhile.
    const begun = hooks.filter(({ name }) => progressOf(record.hooks, name) !== undefined);
    return { kind: 'call', hooks: begun, mode: 'awaited' };
  }
  if (owner.kind === 'over' || (owner.kind === 'underWay' && isForced)) return { kind: 'done' };
  if (owner.kind === 'underWay') {
    return { kind: 'wait', on: `the hooks are called in the termination of ${owner.termination}` };
  }
  if (isForced) return { kind: 'call', hooks, mode: 'forced' };
  if (point === 'after-terminate' || hooks.some(hook => isAwaited(observation, hook)))
    return { kind: 'call', hooks, mode: 'awaited' };
  switch (observation.karpenter) {
    case 'none':
      return { kind: 'call', hooks, mode: 'awaited' };
    case 'here':
      return { kind: 'call', hooks, mode: 'once' };
    case 'mayHaveGone':
      if (isEnding === undefined) return { kind: 'lookAtInstance' };
      return { kind: 'call', hooks, mode: isEnding ? 'once' : 'awaited' };
  }
}

/** Whether it was called and waited for, so that Karpenter had left the end of the instance to this termination. */
function isAwaited({ record, karpenter }: HookPointObservation, { name }: TerminationHook): boolean {
  const progress = progressOf(record.hooks, name);
  return karpenter !== 'here' && progress !== undefined && reasonNotAwaited(progress) === undefined;
}

/** Whether the answer of a hook is there, or it was passed over, and that was said where it must be. */
function isHookDone({ record, isForced }: HookPointObservation, { name, at }: TerminationHook): boolean {
  const progress = progressOf(record.hooks, name);
  // One that came to the policy later is called, too, although its point was told of.
  if (progress !== undefined && reasonNotAwaited(progress) !== undefined)
    return progress.phase !== 'intended' && record.reportedHookPoints?.includes(at) === true;
  if (isForced) return progress !== undefined && progress.phase !== 'intended';
  return progress?.phase === 'succeeded' || progress?.phase === 'passed';
}

/** Report about hooks that nothing waited for. */
export interface UnawaitedNews {
  readonly how: UnawaitedReason;
  readonly called: readonly string[];
  /** Hooks that were not called, and why. */
  readonly uncalled: readonly string[];
}

/** The report that is due; undefined: nothing waits to be said. Hooks that were called before have Events of their own. */
export function unawaitedNews(
  point: HookPoint,
  hooks: readonly TerminationHook[],
  { reportedHookPoints = [], hooks: progress }: HookPointObservation['record'],
): UnawaitedNews | undefined {
  if (reportedHookPoints.includes(point)) return undefined;
  const unawaited = hooks.flatMap(({ name }) => {
    const own = progressOf(progress, name);
    const how = reasonNotAwaited(own);
    return own === undefined || how === undefined ? [] : [{ name, how, progress: own }];
  });
  if (unawaited.length === 0) return undefined;
  const wasCalled = ({ phase }: HookProgress): boolean => phase !== 'failed' && phase !== 'passed';
  const uncalled = unawaited.filter(each => !wasCalled(each.progress));
  return {
    how: unawaited.some(({ how }) => how === 'forced') ? 'forced' : 'once',
    called: unawaited.filter(each => wasCalled(each.progress)).map(({ name }) => name),
    uncalled: uncalled.map(each => `${each.name} (${lastMessageOf(each.progress) ?? ''})`),
  };
}
