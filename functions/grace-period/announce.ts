/** Says what there is to say about protections: a Kubernetes Event, an audit line and a metric each. */
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { durationBetween, parseTimestamp } from '../../shared/domain/time.ts';
import type { Report, Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Announcement, AnnouncementTopic } from './announcements.ts';

type Deps = Pick<FunctionDeps, 'metrics' | 'clock'> & { readonly reporter: Reporter };

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

/** Says each announcement. `timed`: a timer brought us here, so how late it was can be measured. */
export async function announce(deps: Deps, announcements: readonly Announcement[], timed: boolean): Promise<void> {
  await fewAtATime(announcements, each => {
    if (timed) measureLateness(deps, each);
    return deps.reporter.report(toReport(each));
  });
}

function measureLateness({ metrics, clock }: Pick<Deps, 'metrics' | 'clock'>, { topic, key }: Announcement): void {
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
