/** Reports about grace periods: Events about protections and refused changes, audit lines of changes of the Node, and metrics. */
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../shared/contract/subject.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { durationBetween, parseTimestamp, toExactTimestamp } from '../../shared/domain/time.ts';
import type { Report, Reporter } from '../../shared/lifecycle/reporter.ts';
import type { SourcedProtection } from '../../shared/policies/protection-settings.ts';
import { settingPath } from '../../shared/policies/setting-path.ts';
import { annotatedPods, type AnnotatedPod, type Announcement, type AnnouncementTopic } from './rule/announcements.ts';
import type { GracePeriodContext, GracePeriodDeps } from './context.ts';
import type { ProtectionCounts } from './decide.ts';
import type { NodeWrite } from './rule/node-change.ts';
import type { ObservedNode } from './observe.ts';

interface EventOfTopic {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** Name of the metric that counts these, without dimensions. */
  readonly metric: string;
}

const EVENTS: Readonly<Record<AnnouncementTopic, EventOfTopic>> = {
  invalid: { type: 'Warning', reason: EVENT_REASONS.invalidDoNotDisrupt, metric: METRICS.invalid },
  capped: { type: 'Warning', reason: EVENT_REASONS.protectionCapped, metric: METRICS.capped },
  until: { type: 'Normal', reason: EVENT_REASONS.protectedUntil, metric: METRICS.announced },
  expiring: { type: 'Warning', reason: EVENT_REASONS.protectionExpiring, metric: METRICS.expiring },
  elapsed: { type: 'Normal', reason: EVENT_REASONS.protectionElapsed, metric: METRICS.elapsed },
  notOurs: { type: 'Warning', reason: EVENT_REASONS.protectionNotHeld, metric: METRICS.notHeld },
  observed: { type: 'Normal', reason: EVENT_REASONS.protectionObserved, metric: METRICS.observed },
};

/** Makes each announcement. Where a timer brought the run here, its lateness is measured. */
export async function announce(
  { deps, reporter, isFromTimer }: GracePeriodContext,
  announcements: readonly Announcement[],
): Promise<void> {
  await fewAtATime(announcements, each => {
    if (isFromTimer) measureLateness(deps, each);
    return reporter.report(toReport(each));
  });
}

function measureLateness({ metrics, clock }: GracePeriodDeps, { topic, key }: Announcement): void {
  const expiry = topic === 'elapsed' ? parseTimestamp(key) : undefined;
  if (expiry !== undefined) metrics.milliseconds(METRICS.elapsedLateness, durationBetween(expiry, clock.now()));
}

function toReport({ topic, message, about: { kind, ...metadata } }: Announcement): Report {
  const { type, reason, metric } = EVENTS[topic];
  return {
    about: { apiVersion: 'v1', kind, metadata },
    decision: topic,
    reason,
    message,
    metric: { name: metric },
    event: { type },
  };
}

/** Measures how many pods are protected, and how soon the next protection ends. */
export function countProtectedPods(
  { metrics, clock }: GracePeriodDeps,
  { protectedPods, nextExpiry }: ProtectionCounts,
): void {
  metrics.count(METRICS.protectedPods, protectedPods);
  if (nextExpiry !== undefined)
    metrics.milliseconds(METRICS.timeToNextExpiry, durationBetween(clock.now(), nextExpiry));
}

/**
 * Reports a change of the Node in one audit line, after it was made, with the numbers that it rests on. A release after which no pod is
 * protected is an Event, too.
 */
export async function reportChange(
  reporter: Reporter,
  { object: about, pods, protection }: ObservedNode,
  change: NodeWrite,
  { protectedPods, elapsedPods, nextExpiry }: ProtectionCounts,
): Promise<void> {
  const settings = decidingSettings(protection, annotatedPods(pods, protection.policy));
  await reporter.report({
    about,
    decision: change.kind,
    reason: change.reason,
    message: MESSAGES[change.reason],
    metric: { name: METRICS.decision, dimensions: { decision: change.kind } },
    ...(change.kind === 'release' &&
      protectedPods === 0 && { event: { type: 'Normal', reason: EVENT_REASONS.nodeDisruptable } }),
    details: {
      protectedPods,
      elapsedPods,
      ...(change.kind === 'hold' && { protectedUntil: change.until }),
      ...(nextExpiry !== undefined && { nextExpiry: toExactTimestamp(nextExpiry) }),
      ...(settings.length > 0 && { decidedBy: settings }),
    },
  });
}

const MESSAGES = {
  PodsProtected: 'pods on the node are protected: Curfew holds it',
  AnnotationRemoved: 'the annotation was removed while pods are protected: Curfew holds the node again',
  GracePeriodElapsed: 'released: the last grace period on the node has ended',
  NothingProtected: 'released: no pod on the node is protected any more',
  ProtectedByKarpenter:
    'released: only pods with the annotation "true" are protected, which Karpenter honors by itself',
  AnnotationTakenOver: 'the annotation was changed by someone else: Curfew removed its mark',
  ReplacementHeld: 'no pod is protected any more; a repair holds the node until it takes the place of another one',
} as const;

/** Settings of a policy that decided until when the pods are protected; none where the annotations alone did. */
export function decidingSettings(
  { policy, source }: SourcedProtection,
  pods: readonly AnnotatedPod[],
): readonly JsonObject[] {
  const caps = pods.flatMap(({ pod, protection }) => {
    if (protection.kind !== 'until' || protection.cappedTo === undefined) return [];
    return policy.maxDurations.has(pod.namespace) ? 'spec.protection.namespaces' : 'spec.protection.maxDuration';
  });
  const rules = policy.compatibility === 'Karpenter' && pods.length > 0 ? ['spec.protection.compatibility'] : [];
  return [...new Set([...rules, ...caps])].map(field => settingPath(source, field)).filter(path => path !== undefined);
}

/** Reports that the API server refuses a change of the Node. */
export const reportRefusal = (
  reporter: Reporter,
  { object }: ObservedNode,
  text: string,
  isRepeated: boolean,
): Promise<void> =>
  reporter.report({
    about: object,
    decision: 'refused',
    reason: EVENT_REASONS.nodeChangeRefused,
    message: `karpenter.sh/do-not-disrupt on the node cannot be changed, the API server refuses it: ${text}`,
    metric: { name: METRICS.refused },
    isRepeated,
    event: { type: 'Warning' },
  });

/** Reports that the node is gone, and with it the protections of its pods. */
export const reportGone = (reporter: Reporter, subject: Subject): Promise<void> =>
  reporter.report({
    about: aboutSubject(subject),
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its record is closed',
  });
