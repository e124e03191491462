/**
 * The rule of grace periods (design "Do-not-disrupt grace period"; DESIGN §3.2, I2, I7): while a protection that Karpenter does not
 * see by itself is active on a node, the node carries `karpenter.sh/do-not-disrupt: "true"` with our mark beside it; each pod hears
 * of its own expiry; at the last one the node is let go. Pure: no I/O, no clock.
 *
 * Whose annotation it is (A: do-not-disrupt on the Node, M: our mark):
 * - no A, no M: nobody's; with A and without M: somebody's, never touched
 * - A is `"true"` and M: ours
 * - M without A: somebody removed ours; it is held again while pods are protected
 * - M, and A is something else: somebody edited ours and thereby took it over; our mark goes, the annotation stays
 */
import {
  annotatedPods,
  announcementsFor,
  nextInstant,
  shown,
  type AnnotatedPod,
  type Announcement,
} from './announcements.ts';
import { EMPTY_RECORD, type GracePeriodRecord } from './announced.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isActive, type ProtectionPolicy } from '../../shared/domain/protection.ts';
import {
  addDuration,
  earliest,
  hours,
  isDue,
  seconds,
  toExactTimestamp,
  type EpochMs,
} from '../../shared/domain/time.ts';

/** A run that has claimed Events has recorded them after this long, or has ended. */
export const CLAIM_SETTLES_AFTER = seconds(30);
/** A node with annotated pods and nothing due is looked at this often, so that none is ever out of sight (I5). */
export const IDLE_CHECK = hours(24);

export interface GracePeriodObservation {
  readonly now: EpochMs;
  readonly node: {
    readonly name: string;
    readonly uid: string;
    /** Value of `karpenter.sh/do-not-disrupt` on the Node. */
    readonly doNotDisrupt: string | undefined;
    /** Our mark. */
    readonly protectedUntil: string | undefined;
  };
  /** All pods on the node. */
  readonly pods: readonly PodView[];
  readonly policy: ProtectionPolicy;
  readonly policyName: string | undefined;
  readonly observeOnly: boolean;
  readonly record: GracePeriodRecord | undefined;
  /** The claim that this very run wrote. */
  readonly ownClaimTime: EpochMs | undefined;
}

export type NodeChange =
  | { readonly kind: 'leave' }
  /** Set both annotations, or correct the mark. `until`: RFC 3339 of the latest expiry, or `indefinite`. */
  | { readonly kind: 'hold'; readonly until: string; readonly reason: 'PodsProtected' | 'AnnotationRemoved' }
  /** Remove both. */
  | { readonly kind: 'release'; readonly reason: 'GracePeriodElapsed' | 'NothingProtected' }
  /** Remove our mark beside an annotation that is not ours any more. */
  | { readonly kind: 'disown'; readonly reason: 'AnnotationTakenOver' };

/** A record's content and when to look again. */
export interface Remembered {
  readonly record: GracePeriodRecord;
  readonly wakeTime: EpochMs;
}

export interface GracePeriodDecision {
  readonly node: NodeChange;
  /** To be said now, each once. */
  readonly announcements: readonly Announcement[];
  /** To be written before anything is done; undefined when there is nothing to remember. */
  readonly intent: Remembered | undefined;
  /** To be written when all is done; undefined: the record goes. */
  readonly outcome: Remembered | undefined;
  /** UIDs of what is there: the memory of everything else may go. */
  readonly present: ReadonlySet<string>;
  /** The numbers that it rests on. */
  readonly counts: {
    readonly protectedPods: number;
    readonly elapsedPods: number;
    readonly nextExpiry: EpochMs | undefined;
  };
}

export function decide(observation: GracePeriodObservation): GracePeriodDecision {
  const { now, node, policy, policyName, ownClaimTime, record = EMPTY_RECORD } = observation;
  const annotated = annotatedPods(observation.pods, policy);
  const until = heldUntil(annotated, now);
  const change = changeOf(observation, until, annotated);

  const { claimTime } = record;
  const claimedUntil = claimTime === undefined ? undefined : addDuration(claimTime, CLAIM_SETTLES_AFTER);
  const busy = claimedUntil !== undefined && claimTime !== ownClaimTime && !isDue(now, claimedUntil);
  const said = [
    ...aboutNode(observation, until),
    ...annotated.flatMap(pod => announcementsFor(pod, { policy, policyName, now })),
  ];
  const announcements = busy
    ? []
    : said.filter(({ about, topic, key }) => record.announced[about.uid]?.[topic] !== key);

  const next = annotated.map(pod => nextInstant(pod, policy, now)).reduce(sooner, addDuration(now, IDLE_CHECK));
  const { announced } = record;
  const intent: Remembered =
    announcements.length > 0
      ? {
          record: { announced, claimTime: ownClaimTime ?? now },
          wakeTime: sooner(addDuration(ownClaimTime ?? now, CLAIM_SETTLES_AFTER), next),
        }
      : { record: busy ? record : { announced }, wakeTime: sooner(next, busy ? claimedUntil : undefined) };
  const outcome: Remembered =
    announcements.length > 0
      ? { record: { announced: withAnnouncements(announced, announcements) }, wakeTime: next }
      : intent;

  const active = annotated.filter(({ protection }) => isActive(protection, now));
  return {
    node: change,
    announcements,
    intent: annotated.length > 0 ? intent : undefined,
    outcome: annotated.length > 0 ? outcome : undefined,
    present: new Set([node.uid, ...annotated.map(({ pod }) => pod.uid)]),
    counts: {
      protectedPods: active.length,
      elapsedPods: annotated.filter(pod => isElapsed(pod, now)).length,
      nextExpiry: active
        .map(({ protection }) => (protection.kind === 'until' ? protection.expiry : undefined))
        .reduce(earliest, undefined),
    },
  };
}

const isElapsed = ({ protection }: AnnotatedPod, now: EpochMs): boolean =>
  protection.kind === 'until' && !isActive(protection, now);

/** The earlier of two instants; undefined: none. */
function sooner(instant: EpochMs, other: EpochMs | undefined): EpochMs {
  return other !== undefined && other < instant ? other : instant;
}

/** The memory with these announcements made. */
export function withAnnouncements(
  announced: GracePeriodRecord['announced'],
  made: readonly Announcement[],
): GracePeriodRecord['announced'] {
  const merged = new Map(Object.entries(announced));
  for (const { about, topic, key } of made) merged.set(about.uid, { ...merged.get(about.uid), [topic]: key });
  return Object.fromEntries(merged);
}

/** Until when the node is to be held: a plain `"true"` does not count, Karpenter honours that on the pod itself. */
function heldUntil(annotated: readonly AnnotatedPod[], now: EpochMs): string | undefined {
  const holding = annotated
    .map(({ protection }) => protection)
    .filter(protection => protection.kind !== 'none' && protection.source !== 'True' && isActive(protection, now));
  if (holding.length === 0) return undefined;
  let latest: EpochMs | undefined;
  for (const protection of holding) {
    if (protection.kind !== 'until') return 'indefinite';
    if (latest === undefined || protection.expiry > latest) latest = protection.expiry;
  }
  return latest === undefined ? undefined : toExactTimestamp(latest);
}

function changeOf(
  { node, observeOnly, now }: GracePeriodObservation,
  until: string | undefined,
  annotated: readonly AnnotatedPod[],
): NodeChange {
  const { doNotDisrupt, protectedUntil } = node;
  const leave: NodeChange = { kind: 'leave' };
  if (protectedUntil === undefined) {
    const free = doNotDisrupt === undefined;
    return free && until !== undefined && !observeOnly ? { kind: 'hold', until, reason: 'PodsProtected' } : leave;
  }
  if (doNotDisrupt !== undefined && doNotDisrupt !== 'true') return { kind: 'disown', reason: 'AnnotationTakenOver' };
  if (until === undefined) {
    return {
      kind: 'release',
      reason: annotated.some(pod => isElapsed(pod, now)) ? 'GracePeriodElapsed' : 'NothingProtected',
    };
  }
  if (doNotDisrupt === 'true' && protectedUntil === until) return leave;
  // In Observe mode nothing new is held; what is held already goes at its end, above.
  if (observeOnly) return leave;
  return { kind: 'hold', until, reason: doNotDisrupt === undefined ? 'AnnotationRemoved' : 'PodsProtected' };
}

/** What is to be said about the node itself. */
function aboutNode({ node, observeOnly }: GracePeriodObservation, until: string | undefined): readonly Announcement[] {
  if (until === undefined) return [];
  const { doNotDisrupt, protectedUntil, name, uid } = node;
  const about = { kind: 'Node', name, uid } as const;
  if (doNotDisrupt !== undefined && doNotDisrupt !== 'true') {
    const message = `karpenter.sh/do-not-disrupt: ${shown(doNotDisrupt)} on the node is not Curfew's and is left alone: Karpenter may disrupt pods that are protected until ${until}`;
    return [{ topic: 'notOurs', key: shown(doNotDisrupt), message, about }];
  }
  if (observeOnly && doNotDisrupt === undefined && protectedUntil === undefined) {
    const message = `mode is Observe; the node would carry karpenter.sh/do-not-disrupt: "true" for its protected pods, until ${until}`;
    return [{ topic: 'observed', key: until, message, about }];
  }
  return [];
}
