/** Carries one plan out: warnings, evictions and deletions. */
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { gracePeriodOf } from '../../shared/domain/drainable-pod.ts';
import { addDuration, earliest, type EpochMs } from '../../shared/domain/time.ts';
import { PROGRESSED, type Turn, anotherTurn } from '../../shared/lifecycle/settle.ts';
import {
  askedEvictionsAfter,
  removePods,
  latestDeletionTime,
  remainingAfter,
  withEvictionIntents,
  type AskedEvictions,
  type PodRemoval,
  type RemainingPods,
} from '../../shared/pods/drain-pods.ts';
import type { DrainContext } from './context.ts';
import type { ObservedDrain } from './observe.ts';
import { describeRemoval, noticesOf, reportEvicted, reportScheduledDeletion } from './pod-report.ts';
import type { ActiveDrain } from './record.ts';
import { reportNotices, reportStuck } from './report.ts';
import type { DecisionOf } from './rule/decision.ts';
import { type PodPlan, withPodReturns } from './rule/pod-plan.ts';
import { withSafetyNet, withTriedPods } from './rule/progress.ts';
import { saveForSweep, saveUntil } from './save.ts';
import { settingsOf } from './try-change.ts';

export interface PlanResult {
  /** UIDs of pods whose owners have been warned. */
  readonly warnedUids: readonly string[];
  /** Number of pods that go because of this plan. */
  readonly drainedCount: number;
  /** Pods that are left, and why. */
  readonly remaining: RemainingPods;
  /** A refusal is to be reported once more. */
  readonly isReportRepeated: boolean;
  /** Evictions that are not asked for again for a moment. */
  readonly askedEvictions: AskedEvictions;
  /** Time when the first of these pods counts as stuck, should it still be there. */
  readonly firstStuckTime: EpochMs | undefined;
}

/** Carries a plan out. A call that fails is the answer for its pod: the others are carried out. */
export async function carryOutPlan(
  context: DrainContext,
  observed: ObservedDrain,
  active: Pick<ActiveDrain, 'id' | 'failedLooks' | 'askedEvictions'> & {
    readonly intents?: AskedEvictions | undefined;
  },
  { acts }: PodPlan,
): Promise<PlanResult> {
  const { deps, reporter } = context;
  const { now, node, record, backoff } = observed;
  const warnings = acts.filter(act => act.kind === 'warn');
  await fewAtATime(warnings, act => reportScheduledDeletion(context, act, node.name));
  let isReportRepeated = false;
  const results = await removePods(
    { ...deps, reporter },
    {
      removals: acts.filter(act => act.kind !== 'warn'),
      requiresUnchanged: true,
      askedEvictions: active.askedEvictions,
      now,
      backoff,
      refusals: record.refusals,
      restsOn: [active.id, ...settingsOf(observed)],
      describe: removal => describeRemoval(removal, node.name),
      // Why pods are left is said of all together.
      report: async (_, __, isRepeated) => void (isReportRepeated ||= isRepeated),
    },
  );
  const evicted = results.filter(({ answer }) => answer.kind === 'evicted').map(({ removal }) => removal.pod);
  await reportEvicted(context, observed, evicted);
  const going = results.filter(({ answer: { kind } }) => kind === 'evicted' || kind === 'deleted');
  return {
    warnedUids: warnings.map(({ pod }) => pod.uid),
    drainedCount: going.length,
    remaining: remainingAfter(active.failedLooks, results, now),
    isReportRepeated,
    askedEvictions: askedEvictionsAfter(active.askedEvictions, results, now, active.intents),
    firstStuckTime: going.map(({ removal }) => stuckTimeOf(removal, deps.clock.now())).reduce(earliest, undefined),
  };
}

/** Time when the pod counts as stuck, as in `podDrainability`. */
const stuckTimeOf = (removal: PodRemoval, now: EpochMs): EpochMs =>
  addDuration(latestDeletionTime(removal, now), gracePeriodOf(removal.pod));

type PodIntents = Pick<ActiveDrain, 'tried' | 'returns' | 'askedEvictions'>;

/** Intents about the pods of a plan, for the record. Of two runs that look at once, only the one that writes them goes on. */
export function podIntents(active: ActiveDrain, plan: PodPlan, { now, record }: ObservedDrain): PodIntents {
  return {
    tried: withTriedPods(active, plan),
    returns: withPodReturns(active.returns, plan.returnedPods, now),
    askedEvictions: withEvictionIntents(active.askedEvictions, plan.acts, now, record.refusals),
  };
}

/** Records which pods are about to go, unless the record says so already. `lostRace`: another run wrote first, so this one leaves them alone. */
export async function recordIntents(
  active: ActiveDrain,
  plan: PodPlan,
  observed: ObservedDrain,
): Promise<{ readonly intents: PodIntents; readonly lostRace?: Turn }> {
  const intents = podIntents(active, plan, observed);
  const isNew = (['tried', 'returns', 'askedEvictions'] as const).some(key => intents[key] !== active[key]);
  if (!isNew) return { intents };
  const saved = await saveForSweep(observed, { ...observed.record, active: { ...active, ...intents } });
  return saved.written ? { intents } : { intents, lostRace: saved };
}

/** Records which pods are about to go, and lets them go. */
export async function drain(
  context: DrainContext,
  decision: DecisionOf<'drain'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { intents, lostRace } = await recordIntents(decision.active, decision.plan, observed);
  return lostRace ?? drainAfterIntents(context, decision, intents, observed);
}

/** Carries one plan out, says why pods are left, and waits for what comes next. */
export async function drainAfterIntents(
  context: DrainContext,
  { active, plan, isStuck, until: due }: DecisionOf<'drain'>,
  intents: PodIntents,
  observed: ObservedDrain,
): Promise<Turn> {
  const result = await carryOutPlan(context, observed, { ...active, intents: intents.askedEvictions }, plan);
  const { remaining, warnedUids, drainedCount, askedEvictions, isReportRepeated, firstStuckTime } = result;
  const notices = noticesOf(plan, remaining.texts);
  const earlierReports = { reported: active.reported, areBlockersDue: isReportRepeated };
  const reported = await reportNotices(context, observed, notices, earlierReports);
  const next: ActiveDrain = {
    // After an outage this look may be the first one at which pods may go.
    ...(isStuck && drainedCount === 0 ? await reportStuck(context, observed, active, notices) : active),
    tried: intents.tried,
    returns: intents.returns,
    warned: [...active.warned, ...warnedUids],
    failedLooks: remaining.failedLooks,
    askedEvictions,
    reported,
  };
  const until = withSafetyNet(
    observed,
    [plan.nextTime, remaining.retryTime, firstStuckTime, due].reduce(earliest, undefined),
  );
  const saved = await saveUntil(observed, { ...observed.record, active: next }, until);
  if (!saved.written) return saved;
  if (remaining.retriesAtOnce) return anotherTurn('a pod changed');
  // A pod that was warned of may be due already.
  return warnedUids.length > 0 ? PROGRESSED : saved;
}
