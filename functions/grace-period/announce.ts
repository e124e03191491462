/** Says what there is to say about protections: a Kubernetes Event, an audit line and a metric each. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { GRACE_PERIOD_METRICS as METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { durationBetween, parseTimestamp } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
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
  refused: { type: 'Warning', reason: EVENT_REASONS.nodeChangeRefused, metric: METRICS.refused },
};

/** Events that one run records at the same time. */
const AT_ONCE = 5;

/** Records each announcement. `timed`: a timer brought us here, so how late it was can be measured. */
export async function announce(
  deps: Deps,
  reporter: Reporter,
  announcements: readonly Announcement[],
  timed: boolean,
): Promise<void> {
  const saidByOthers = await deps.eventsOfOthers.saidOf(announcements);
  const left = announcements.values();
  const sayOneByOne = async (): Promise<void> => {
    for (const each of left) await announceOne(deps, reporter, each, timed, saidByOthers.has(each));
  };
  await inParallel(Array.from({ length: AT_ONCE }, sayOneByOne));
}

async function announceOne(
  deps: Pick<Deps, 'metrics' | 'clock'>,
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
