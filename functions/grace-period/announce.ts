/** Says what there is to say about protections: a Kubernetes Event, an audit line and a metric each. */
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { AnnouncementTopic } from './announced.ts';
import type { Announcement } from './announcements.ts';
import { durationBetween, parseTimestamp } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'events' | 'audit' | 'metrics' | 'clock'>;

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

/** Events recorded at the same time. */
const AT_ONCE = 10;

/** Records each announcement. `timed`: a timer brought us here, so how late it was can be measured. */
export async function announce(
  deps: Deps,
  owner: FunctionName,
  announcements: readonly Announcement[],
  timed: boolean,
): Promise<void> {
  for (let start = 0; start < announcements.length; start += AT_ONCE) {
    await Promise.all(announcements.slice(start, start + AT_ONCE).map(each => announceOne(deps, owner, each, timed)));
  }
}

async function announceOne(deps: Deps, owner: FunctionName, announcement: Announcement, timed: boolean): Promise<void> {
  const { topic, key, message, about } = announcement;
  const { type, reason, metric } = EVENTS[topic];
  const { kind, ...metadata } = about;
  deps.audit.write({ function: owner, decision: topic, reason, message, kind, ...metadata });
  deps.metrics.count(metric);
  const expiry = topic === 'elapsed' && timed ? parseTimestamp(key) : undefined;
  if (expiry !== undefined)
    deps.metrics.milliseconds(METRICS.elapsedLateness, durationBetween(expiry, deps.clock.now()));
  await deps.events.record({ type, reason, message, about: { apiVersion: 'v1', kind, metadata } });
}
