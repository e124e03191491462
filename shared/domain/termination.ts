/**
 * The vocabulary of a termination: whose finalizer it is, until when it may take, and what is run on the way. Pure.
 */
import type { DurationMs, EpochMs } from './time.ts';

/** Karpenter's own finalizer on NodeClaims and Nodes: never ours, whatever a mark says (I7). */
export const KARPENTER_FINALIZER = 'karpenter.sh/termination';

/** The name of our finalizer, on each object that we have put it on. */
export const TERMINATION_FINALIZER_ANNOTATION = 'curfew.dev/termination-finalizer';

/** In force where a policy turns terminations on and names no finalizer. */
export const DEFAULT_TERMINATION_FINALIZER = 'curfew.dev/termination';

export const TERMINATION_SCOPES = ['NodeClaimAndNode', 'NodeOnly', 'None'] as const;
/** The objects that get the finalizer. */
export type TerminationScope = (typeof TERMINATION_SCOPES)[number];

export const BUILTINS = ['Keep', 'Replace'] as const;
/** Whether Karpenter's own finalizer stays. */
export type Builtin = (typeof BUILTINS)[number];

export const HOOK_POINTS = ['before-drain', 'before-terminate', 'after-terminate'] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

export const ON_TIMEOUTS = ['Proceed', 'Abort', 'Escalate'] as const;
/** `Proceed`: go on without it; `Abort`: stop the termination until a person acts or its deadline forces; `Escalate`: as at the deadline. */
export type OnTimeout = (typeof ON_TIMEOUTS)[number];

export type HookTarget =
  | { readonly kind: 'lambda'; readonly functionName: string }
  | { readonly kind: 'event'; readonly detailType: string }
  /** `template` names a key of the ConfigMap; the resource is done when its condition of that type is `True`. */
  | { readonly kind: 'customResource'; readonly template: string; readonly conditionType: string };

export interface TerminationHook {
  /** Unique within the block. */
  readonly name: string;
  readonly at: HookPoint;
  readonly target: HookTarget;
  /** From its first invocation; afterwards `onTimeout` says what happens. */
  readonly deadline: DurationMs;
  /** A worker that says nothing for this long has failed; absent: only the deadline counts. */
  readonly heartbeat: DurationMs | undefined;
  readonly onTimeout: OnTimeout;
}

/** Said of hooks under `builtin: Keep`, after their paths. */
export const HOOKS_HOLD_NOTHING =
  'cannot hold anything beside Karpenter, which drains and ends instances by itself under builtin: Keep; only after-terminate holds there, and every hook under builtin: Replace';

/** The paths of the hooks that delay nothing while Karpenter ends the instance by itself; undefined: each delays it. */
export function idleHooks(hooks: readonly Pick<TerminationHook, 'name' | 'at'>[], path: string): string | undefined {
  const idle = hooks.flatMap(({ name, at }, index) =>
    at === 'after-terminate' ? [] : [`${path}[${index}] (${name})`],
  );
  return idle.length === 0 ? undefined : idle.join(', ');
}

/** Time from the deletion until a termination is forced, and the object that sets it, e.g. `NodePool default`. */
export interface GracePeriod {
  readonly period: DurationMs;
  readonly source: string;
  /** The UID of that object: one that is made again under its name is another (I10). */
  readonly sourceUid?: string;
}

export interface TerminationSettings {
  readonly finalizerName: string;
  readonly scope: TerminationScope;
  readonly builtin: Builtin;
  readonly hooks: readonly TerminationHook[];
  /** From NodePool or policy; a NodeClaim's own comes first. */
  readonly gracePeriod: GracePeriod | undefined;
}

/** Time at which a termination is forced, and what set it. */
export interface Deadline {
  readonly time: EpochMs;
  readonly source: string;
  /**
   * UID of the NodePool or policy. Absent: the deadline is the NodeClaim's own, an annotation's or a hook's, or an
   * older record has it.
   */
  readonly sourceUid?: string;
}

/** Whether the very object that set the deadline speaks again. */
export const isSetBy = (deadline: Deadline, source: string, uid: string | undefined): boolean =>
  deadline.source === source && (deadline.sourceUid === undefined || deadline.sourceUid === uid);

/**
 * The deadline in force. It comes nearer whenever something says so. It moves away only when the very thing that set it was edited;
 * when that is gone, or something else asks for later, it stays where it is (I5).
 *
 * @param stored in force so far
 * @param current what the objects say now
 */
export function deadlineInForce(stored: Deadline | undefined, current: Deadline | undefined): Deadline | undefined {
  if (stored === undefined) return current;
  if (current === undefined) return stored;
  return current.time <= stored.time || isSetBy(stored, current.source, current.sourceUid) ? current : stored;
}
