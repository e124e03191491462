/** Says what there is to say about protections: a Kubernetes Event, an audit line and a metric each. */
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { durationBetween, isDue, parseTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { AnnouncementTopic } from './announced.ts';
import type { Announcement } from './announcements.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'metrics' | 'clock'>;

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
  refused: { type: 'Warning', reason: EVENT_REASONS.nodeChangeRefused, metric: METRICS.refused },
};

/** Events recorded at the same time. */
const AT_ONCE = 10;

/** Records each announcement. `timed`: a timer brought us here, so how late it was can be measured. */
export async function announce(
  deps: Deps,
  reporter: Reporter,
  announcements: readonly Announcement[],
  timed: boolean,
): Promise<void> {
  const saidByOthers = await loadEventsOfOthers(deps, announcements);
  for (let start = 0; start < announcements.length; start += AT_ONCE) {
    const batch = announcements.slice(start, start + AT_ONCE);
    await Promise.all(batch.map(each => announceOne(deps, reporter, each, timed, isSaid(each, saidByOthers))));
  }
}

async function announceOne(
  deps: Deps,
  reporter: Reporter,
  { topic, key, message, about: { kind, ...metadata } }: Announcement,
  timed: boolean,
  saidByOthers: boolean,
): Promise<void> {
  const { type, reason, metric } = EVENTS[topic];
  const expiry = topic === 'elapsed' && timed ? parseTimestamp(key) : undefined;
  if (expiry !== undefined) {
    deps.metrics.milliseconds(METRICS.elapsedLateness, durationBetween(expiry, deps.clock.now()));
  }
  await reporter.report({
    about: { apiVersion: 'v1', kind, metadata },
    decision: topic,
    reason,
    message,
    metric: { name: metric },
    ...(!saidByOthers && { event: { type } }),
  });
}

/** Karpenter ≥ 1.12 says by itself that a protection ended, where it happens to look at the pod: one such Event is enough. */
async function loadEventsOfOthers(
  { kubernetes }: Deps,
  announcements: readonly Announcement[],
): Promise<readonly KubernetesObject[]> {
  const ended = announcements.filter(({ topic }) => topic === 'elapsed');
  const namespaces = new Set(ended.map(({ about }) => (about.kind === 'Pod' ? about.namespace : undefined)));
  // Without the source each run would read all that the others have said in the namespace.
  const fieldSelector = `reason=${EVENT_REASONS.protectionElapsed},source=karpenter`;
  const found: KubernetesObject[] = [];
  for (const namespace of namespaces) {
    if (namespace === undefined) continue;
    found.push(...((await kubernetes.list(RESOURCES.Event, { namespace, fieldSelector })) ?? []));
  }
  return found;
}

/** Whether such an Event about the pod is there from its end on; one of an earlier end, renewed since, is another. */
function isSaid({ topic, key, about }: Announcement, events: readonly KubernetesObject[]): boolean {
  const end = topic === 'elapsed' ? parseTimestamp(key) : undefined;
  return end !== undefined && events.some(event => uidOf(event) === about.uid && isAfter(event, end));
}

function isAfter(event: KubernetesObject, end: EpochMs): boolean {
  const last = event['lastTimestamp'];
  const time = typeof last === 'string' ? parseTimestamp(last) : undefined;
  return time !== undefined && isDue(time, end);
}

function uidOf(event: KubernetesObject): unknown {
  return fieldOf(event['involvedObject'], 'uid');
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}
