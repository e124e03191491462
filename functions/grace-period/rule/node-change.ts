/**
 * Changes of a node: hold, release, or hands off (I7); and how long to wait before an annotation is put back that somebody keeps removing.
 * Pure.
 *
 * Owner of the annotation (A: do-not-disrupt on the Node, M: our mark):
 * - no A, no M: free
 * - A without M: somebody else's, never touched
 * - A is `"true"` and M: ours
 * - M without A: somebody removed ours; it is held again while pods are protected
 * - a replacement that repair holds has A without M: we add M, and later remove M alone
 * - M, and A is something else: somebody edited ours and thereby took it over; our mark goes, the annotation stays
 */
import type { AnnotatedPod } from './announcements.ts';
import { effortOfRestoring, lastingEffort, notRestoredBefore, type Effort } from '../../../shared/domain/effort.ts';
import { isActive } from '../../../shared/domain/protection.ts';
import { toExactTimestamp, type EpochMs } from '../../../shared/domain/time.ts';

/** A Node as far as its annotations matter. */
export interface AnnotatedNode {
  readonly name: string;
  readonly uid: string;
  /** Value of `karpenter.sh/do-not-disrupt` on the Node. */
  readonly doNotDisrupt: string | undefined;
  /** Our mark. */
  readonly protectedUntil: string | undefined;
  /** Repair holds the node, too: it takes the place of another one and is not in use yet (`curfew.dev/replaces`). */
  readonly isReplacement?: boolean | undefined;
}

export type NodeChange =
  | { readonly kind: 'leave' }
  /** Both annotations are set, or the mark is corrected. `until`: RFC 3339 of the latest expiry, or `indefinite`. */
  | { readonly kind: 'hold'; readonly until: string; readonly reason: 'PodsProtected' | 'AnnotationRemoved' }
  /** Both annotations are removed. `ProtectedByKarpenter`: Karpenter itself keeps the node, for a pod with a plain `"true"`. */
  | { readonly kind: 'release'; readonly reason: 'GracePeriodElapsed' | 'NothingProtected' | 'ProtectedByKarpenter' }
  /** Our mark is removed beside an annotation that is not ours any more. */
  | { readonly kind: 'disown'; readonly reason: 'AnnotationTakenOver' | 'ReplacementHeld' };

/** A change of the Node that is made. */
export type NodeWrite = Exclude<NodeChange, { kind: 'leave' }>;

/** Input for the change. */
interface JudgedNode {
  readonly now: EpochMs;
  readonly node: AnnotatedNode;
}

/** Whether the pod's protection had an end that has passed. */
export const isElapsed = ({ protection }: AnnotatedPod, now: EpochMs): boolean =>
  protection.kind === 'until' && !isActive(protection, now);

/**
 * The time until which the node is to be held; undefined: nothing holds it. A plain `"true"` does not count: Karpenter honours that on the pod
 * itself.
 */
export function protectedUntil(annotated: readonly AnnotatedPod[], now: EpochMs): string | undefined {
  const holding = annotated
    .map(({ protection }) => protection)
    .filter(protection => protection.kind !== 'none' && protection.source !== 'True' && isActive(protection, now));
  let latest: EpochMs | undefined;
  for (const protection of holding) {
    if (protection.kind !== 'until') return 'indefinite';
    if (latest === undefined || protection.expiry > latest) latest = protection.expiry;
  }
  return latest === undefined ? undefined : toExactTimestamp(latest);
}

/** The change by which the Node is held until then. @param until undefined: nothing holds it */
export function changeOf(
  { node, now }: JudgedNode,
  until: string | undefined,
  annotated: readonly AnnotatedPod[],
): NodeChange {
  const { doNotDisrupt, protectedUntil, isReplacement = false } = node;
  const leave: NodeChange = { kind: 'leave' };
  if (protectedUntil === undefined) {
    const free = doNotDisrupt === undefined || (isReplacement && doNotDisrupt === 'true');
    return free && until !== undefined ? { kind: 'hold', until, reason: 'PodsProtected' } : leave;
  }
  if (doNotDisrupt !== undefined && doNotDisrupt !== 'true') return { kind: 'disown', reason: 'AnnotationTakenOver' };
  if (until === undefined && isReplacement) return { kind: 'disown', reason: 'ReplacementHeld' };
  if (until === undefined) {
    if (annotated.some(pod => isElapsed(pod, now))) return { kind: 'release', reason: 'GracePeriodElapsed' };
    const isProtected = annotated.some(({ protection }) => isActive(protection, now));
    return { kind: 'release', reason: isProtected ? 'ProtectedByKarpenter' : 'NothingProtected' };
  }
  if (doNotDisrupt === 'true' && protectedUntil === until) return leave;
  return { kind: 'hold', until, reason: doNotDisrupt === undefined ? 'AnnotationRemoved' : 'PodsProtected' };
}

const isRestoring = (change: NodeChange): boolean => change.kind === 'hold' && change.reason === 'AnnotationRemoved';

/** Time when a change that is wanted may be made; undefined: now. */
export const retryTimeOf = (wanted: NodeChange, effort: Effort | undefined, now: EpochMs): EpochMs | undefined =>
  isRestoring(wanted) ? notRestoredBefore(effort, now) : undefined;

/** The memory after a change of the Node was made. */
export const effortAfter = (before: Effort | undefined, change: NodeChange, now: EpochMs): Effort | undefined =>
  isRestoring(change) ? effortOfRestoring(before, now) : lastingEffort(before, now);
