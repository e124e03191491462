/** Says what there is to say about protections: a Kubernetes Event, an audit line and a metric each. */
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { durationBetween, parseTimestamp } from '../../shared/domain/time.ts';
import type { BatchReporter, Report } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { AnnouncementTopic } from './announced.ts';
import type { Announcement } from './announcements.ts';
import type { EventsOfOthers } from './events-of-others.ts';

type Deps = Pick<FunctionDeps, 'metrics' | 'clock'> & { readonly eventsOfOthers: EventsOfOthers };

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

/** Events that one run records at the same time; ten runs are at work (ADR 0026). */
const AT_ONCE = 2;

/** Says each announcement. `timed`: a timer brought us here, so how late it was can be measured. */
export async function announce(
  deps: Deps,
  reporter: BatchReporter,
  announcements: readonly Announcement[],
  timed: boolean,
): Promise<void> {
  const saidByOthers = await deps.eventsOfOthers.saidOf(announcements);
  if (timed) for (const each of announcements) measureLateness(deps, each);
  const reports = announcements.map(each => toReport(each, saidByOthers.has(each)));
  await reporter.reportAll(reports, AT_ONCE);
}

function measureLateness({ metrics, clock }: Pick<Deps, 'metrics' | 'clock'>, { topic, key }: Announcement): void {
  const expiry = topic === 'elapsed' ? parseTimestamp(key) : undefined;
  if (expiry !== undefined) metrics.milliseconds(METRICS.elapsedLateness, durationBetween(expiry, clock.now()));
}

function toReport({ topic, message, about: { kind, ...metadata } }: Announcement, saidByOthers: boolean): Report {
  const { type, reason, metric } = EVENTS[topic];
  return {
    about: { apiVersion: 'v1', kind, metadata },
    decision: topic,
    reason,
    message,
    metric: { name: metric },
    ...(!saidByOthers && { event: { type } }),
  };
}
