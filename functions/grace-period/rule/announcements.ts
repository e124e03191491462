/**
 * Announcements, as Events, about the protection of a pod at an instant. Pure, and the same whenever it is asked: the caller remembers what was
 * said and leaves that out.
 */
import type { GracePeriodRecord } from '../record.ts';
import { quoteCut } from '../../../shared/domain/cut-text.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { DO_NOT_DISRUPT_ANNOTATION, isFinished, isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import {
  isActive,
  parseDoNotDisrupt,
  type Protection,
  protectionOf,
  type ProtectionPolicy,
} from '../../../shared/domain/protection.ts';
import { addDuration, type EpochMs, isDue, toDurationMs, toExactTimestamp } from '../../../shared/domain/time.ts';

/** Topic of an Event: one Event reason each. */
export type AnnouncementTopic = 'invalid' | 'capped' | 'until' | 'expiring' | 'elapsed' | 'notOurs' | 'observed';

export interface Announcement {
  readonly topic: AnnouncementTopic;
  /** The value that the topic is about, e.g. the expiry: said once per key. */
  readonly key: string;
  readonly message: string;
  readonly about:
    | { readonly kind: 'Node'; readonly name: string; readonly uid: string }
    | { readonly kind: 'Pod'; readonly namespace: string; readonly name: string; readonly uid: string };
}

/** A pod that carries the annotation and may still be disrupted, with its protection. */
export interface AnnotatedPod {
  readonly pod: PodView;
  readonly value: string;
  readonly protection: Protection;
}

/** The pods whose annotation counts: not those that have ended or are being deleted. */
export function annotatedPods(pods: readonly PodView[], policy: ProtectionPolicy): readonly AnnotatedPod[] {
  return pods.flatMap(pod => {
    const value = pod.annotations[DO_NOT_DISRUPT_ANNOTATION];
    if (value === undefined || isFinished(pod) || isTerminating(pod)) return [];
    return [{ pod, value, protection: protectionOf(pod, policy) }];
  });
}

/** A block in mode `Observe`, and the policy that it is from. */
export interface ObservedProtection {
  readonly policy: ProtectionPolicy;
  readonly source: string | undefined;
}

/** The protection in force, and that of a block that is only observed. */
interface ProtectionInForce {
  readonly policy: ProtectionPolicy;
  /** Name of the policy that set the caps. */
  readonly policyName: string | undefined;
  readonly observed: ObservedProtection | undefined;
  readonly now: EpochMs;
}

/** All announcements about the pod at `now`. */
export function announcementsFor(annotated: AnnotatedPod, inForce: ProtectionInForce): readonly Announcement[] {
  const { pod, value, protection } = annotated;
  const { policy, policyName, now } = inForce;
  const { namespace, name, uid } = pod;
  const say = (topic: AnnouncementTopic, key: string, message: string): Announcement => ({
    topic,
    key,
    message,
    about: { kind: 'Pod', namespace, name, uid },
  });
  const observed = endIfEnforced(annotated, inForce);
  const announcements: Announcement[] = observed === undefined ? [] : [say('observed', observed.key, observed.message)];
  const annotation = `${DO_NOT_DISRUPT_ANNOTATION}: ${quotedValue(value)}`;

  const problem = problemOf(value);
  if (problem !== undefined) {
    const explanation = `is neither "true" nor a positive Go duration such as "4h" or "1h30m" (${problem})`;
    announcements.push(say('invalid', quotedValue(value), `${annotation} ${explanation}; ${effectOf(protection)}`));
  }
  if (protection.kind !== 'until') return announcements;

  const { expiry, cappedTo } = protection;
  const key = toExactTimestamp(expiry);
  const limit = cappedTo === undefined ? '' : ` (limited to ${formatDuration(cappedTo)} by ${policyName ?? 'policy'})`;
  if (!isActive(protection, now)) {
    // Karpenter still treats "true" as indefinite; only Curfew's protection has ended.
    const caveat = protection.source === 'True' ? '; Karpenter itself still honours the annotation' : '';
    announcements.push(
      say('elapsed', key, `the pod is not protected: ${annotation}${limit} protects it until ${key}${caveat}`),
    );
    return announcements;
  }
  if (cappedTo !== undefined) {
    announcements.push(
      say('capped', key, `${annotation} asks for more than is granted: protected until ${key}${limit}`),
    );
  }
  if (policy.compatibility === 'Karpenter')
    announcements.push(say('until', key, `${annotation} protects the pod until ${key}`));
  const warnTime = warnTimeOf(expiry, policy);
  if (warnTime !== undefined && isDue(now, warnTime)) {
    announcements.push(say('expiring', key, `the protection by ${annotation}${limit} ends at ${key}`));
  }
  return announcements;
}

/** The pod's protection under the block that is only observed; undefined: the same, or neither is active. */
function endIfEnforced(
  { pod, value, protection }: AnnotatedPod,
  { observed, now }: ProtectionInForce,
): { readonly key: string; readonly message: string } | undefined {
  if (observed === undefined) return undefined;
  const enforced = protectionOf(pod, observed.policy);
  if (!isActive(protection, now) && !isActive(enforced, now)) return undefined;
  const key = spanOf(enforced);
  const span = spanOf(protection);
  if (key === span) return undefined;
  const annotation = `${DO_NOT_DISRUPT_ANNOTATION}: ${quotedValue(value)}`;
  const source = observed.source ?? 'the policy';
  return { key, message: `${annotation} protects ${span}; in mode Enforce ${source} would make that ${key}` };
}

function spanOf(protection: Protection): string {
  if (protection.kind === 'none') return 'not at all';
  return protection.kind === 'until' ? `until ${toExactTimestamp(protection.expiry)}` : 'without end';
}

/** The next instant after `now` at which something about the pod changes; undefined: none is known. */
export function nextInstant({ protection }: AnnotatedPod, policy: ProtectionPolicy, now: EpochMs): EpochMs | undefined {
  if (protection.kind !== 'until' || !isActive(protection, now)) return undefined;
  const warnTime = warnTimeOf(protection.expiry, policy);
  return warnTime !== undefined && !isDue(now, warnTime) ? warnTime : protection.expiry;
}

function warnTimeOf(expiry: EpochMs, { warnBefore }: ProtectionPolicy): EpochMs | undefined {
  return warnBefore === undefined ? undefined : addDuration(expiry, toDurationMs(0 - warnBefore));
}

/** The problem of an invalid value; undefined: it is valid. Both rule sets agree on that. */
function problemOf(value: string): string | undefined {
  const asked = parseDoNotDisrupt(value, 'Design');
  return asked.kind === 'invalid' ? asked.problem : undefined;
}

function effectOf(protection: Protection): string {
  switch (protection.kind) {
    case 'none':
      return 'the annotation is ignored, the pod is not protected';
    case 'indefinite':
      return 'to be safe the pod is protected without end: correct the value or remove the annotation';
    case 'until':
      return `to be safe the pod is protected until ${toExactTimestamp(protection.expiry)}, the longest that is granted`;
  }
}

const SHOWN_CHARS = 64;

/** A value as it stands in messages: quoted, and cut when it is long. */
export const quotedValue = (value: string): string => quoteCut(value, SHOWN_CHARS);

/** The announced keys with these announcements made. */
export function withAnnouncements(
  announcedKeys: GracePeriodRecord['announcedKeys'],
  made: readonly Announcement[],
): GracePeriodRecord['announcedKeys'] {
  const merged = new Map(Object.entries(announcedKeys));
  for (const { about, topic, key } of made) merged.set(about.uid, { ...merged.get(about.uid), [topic]: key });
  return Object.fromEntries(merged);
}
