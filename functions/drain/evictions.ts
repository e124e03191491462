/** Carries one plan out: warnings, evictions and deletions, and what is said of them. */
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { DEFAULT_GRACE_PERIOD } from '../../shared/domain/drainable-pod.ts';
import { qualifiedName, type JsonObject, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, earliest, seconds, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { About, Report } from '../../shared/lifecycle/reporter.ts';
import { ONWARD, type Turn, again } from '../../shared/lifecycle/settle.ts';
import {
  endPods,
  askedEvictionsAfter,
  remainingAfter,
  withEvictionIntents,
  type EndedPod,
  type AskedEvictions,
  type RemainingPods,
} from '../../shared/pods/drain-pods.ts';
import { type DrainContext, withSafetyNet, saveForSweep, saveUntil } from './context.ts';
import type { DrainDecision } from './rule/decision.ts';
import type { DrainDeps, ObservedDrain } from './observe.ts';
import { type PodPlan, type PodAct, withReturns } from './rule/pod-plan.ts';
import { withTriedPods } from './rule/progress.ts';
import type { ActiveDrain } from './record.ts';
import { noticesOf, reportStuck, reportNew } from './report.ts';

type PodEnd = Exclude<PodAct, { kind: 'warn' }>;
type DecisionOf<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;
type Warning = Extract<PodAct, { kind: 'warn' }>;

export interface PlanResult {
  /** UIDs of pods whose owners have been warned. */
  readonly warnedUids: readonly string[];
  /** Pods that go because of this plan. */
  readonly drainedCount: number;
  /** What it leaves undone. */
  readonly remaining: RemainingPods;
  /** A refusal is to be reported once more. */
  readonly isReportRepeated: boolean;
  /** Evictions that are not asked for again for a moment. */
  readonly askedEvictions: AskedEvictions;
  /** The latest time at which the first of the pods that this plan ends should be gone. */
  readonly goneBy: EpochMs | undefined;
}

/** A call that fails is the answer for its pod: the others are carried out. */
export async function carryOutPlan(
  { deps, reporter }: DrainContext,
  observed: ObservedDrain,
  active: Pick<ActiveDrain, 'id' | 'refusals' | 'askedEvictions'> & { readonly intents?: AskedEvictions | undefined },
  { acts }: PodPlan,
): Promise<PlanResult> {
  const { now, object: node, record, tries, mode, limits, rules } = observed;
  const { name } = node.metadata;
  const warnings = acts.filter(act => act.kind === 'warn');
  await fewAtATime(warnings, act => warn({ deps, reporter }, act, name));
  let isReportRepeated = false;
  const ended = await endPods(
    { ...deps, reporter },
    {
      ends: acts.filter(act => act.kind !== 'warn'),
      requiresUnchanged: true,
      askedEvictions: active.askedEvictions,
      now,
      tries,
      refusals: record.refusals,
      restsOn: [active.id, mode, limits, rules?.settings],
      describe: end => describe(end, name),
      // Why pods are left is said of all together.
      report: async (_, __, isRepeated) => void (isReportRepeated ||= isRepeated),
    },
  );
  const evicted = ended.flatMap(({ end: { pod }, answer }) => (answer.kind === 'evicted' ? [qualifiedName(pod)] : []));
  if (evicted.length > 0) await reportEvicted(deps, node, evicted);
  const going = ended.filter(({ answer: { kind } }) => kind === 'evicted' || kind === 'deleted');
  return {
    warnedUids: warnings.map(({ pod }) => pod.uid),
    drainedCount: going.length,
    remaining: remainingAfter(active.refusals, ended, now),
    isReportRepeated,
    askedEvictions: askedEvictionsAfter(active.askedEvictions, ended, now, active.intents),
    goneBy: going.map(each => stuckAfter(each, deps.clock.now())).reduce(earliest, undefined),
  };
}

/** As `podDrainability` says it, with the second by which the API server rounds a deletion. */
function stuckAfter({ end: { pod, gracePeriodSeconds } }: EndedPod<PodEnd>, now: EpochMs): EpochMs {
  const own = pod.terminationGracePeriod ?? DEFAULT_GRACE_PERIOD;
  const given = gracePeriodSeconds === undefined ? own : seconds(gracePeriodSeconds);
  return addDuration(addDuration(addDuration(now, given), own), seconds(1));
}

/** What is said of a pod that was evicted or deleted. */
function describe(end: PodEnd, node: string): Omit<Report, 'about' | 'reason' | 'metric'> {
  const { kind, gracePeriodSeconds } = end;
  const details = { node, gracePeriodSeconds: gracePeriodSeconds ?? null, ...overriddenBy(end) };
  if (kind === 'evict')
    return { decision: 'evict', message: `evicted: node ${node} is drained${inSpiteOf(end)}`, details };
  return {
    decision: 'delete',
    message: `deleted with a grace period of ${gracePeriodSeconds} s: the time for node ${node} to drain is over${inSpiteOf(end)}`,
    details,
    event: { type: 'Normal' },
  };
}

/** A drain ends a protected pod only once its NodeClaim is past the instant from which it is terminated by force (I2). */
const inSpiteOf = ({ overriddenProtection }: PodEnd): string =>
  overriddenProtection === undefined ? '' : '; it was protected, and its NodeClaim is past its termination timestamp';

const overriddenBy = ({ overriddenProtection }: PodEnd): JsonObject =>
  overriddenProtection === undefined ? {} : { overriddenProtection: overriddenProtection.kind };

/** One for a plan, on the Node: Events of each pod would be half of what a storm writes (ADR 0016). */
function reportEvicted({ events }: DrainDeps, node: KubernetesObject, pods: readonly string[]): Promise<void> {
  const message = `evicted ${pods.length} pod${pods.length === 1 ? '' : 's'}: ${pods.join(', ')}`;
  return events.record({ type: 'Normal', reason: EVENT_REASONS.evicted, message, about: node });
}

/** On the pod, and on the controller that will replace it. */
async function warn(
  { deps, reporter }: Pick<DrainContext, 'deps' | 'reporter'>,
  { pod, deleteTime }: Warning,
  node: string,
): Promise<void> {
  const { name, namespace, uid } = pod;
  const about: About = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } };
  const reason = EVENT_REASONS.deletionScheduled;
  const time = toTimestamp(deleteTime);
  await reporter.report({
    about,
    decision: 'warn',
    reason,
    message: `node ${node} is drained: the pod is deleted at ${time} unless it ends before`,
    details: { node, deleteTime: time },
    event: { type: 'Warning' },
  });
  const owner = pod.ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return;
  await deps.events.record({
    type: 'Warning',
    reason,
    message: `node ${node} is drained: pod ${pod.name} is deleted at ${time} unless it ends before`,
    about: { ...owner, metadata: { name: owner.name, namespace, uid: owner.uid } },
  });
}

type NotedPods = Pick<ActiveDrain, 'tried' | 'returns' | 'askedEvictions'>;

/** What the record says of pods before anything happens to them. Of two runs that look at once, only the one that writes it goes on. */
export function podNotes(active: ActiveDrain, plan: PodPlan, { now, record }: ObservedDrain): NotedPods {
  return {
    tried: withTriedPods(active, plan),
    returns: withReturns(active.returns, plan.returnedPods, now),
    askedEvictions: withEvictionIntents(active.askedEvictions, plan.acts, now, record.refusals),
  };
}

/** Notes down which pods are about to go, where the record does not say so yet. `lostRace`: another run wrote first, so this one leaves them alone. */
export async function noteActs(
  active: ActiveDrain,
  plan: PodPlan,
  observed: ObservedDrain,
): Promise<{ readonly notes: NotedPods; readonly lostRace?: Turn }> {
  const notes = podNotes(active, plan, observed);
  const isNew = (['tried', 'returns', 'askedEvictions'] as const).some(key => notes[key] !== active[key]);
  if (!isNew) return { notes };
  const saved = await saveForSweep(observed, { ...observed.record, active: { ...active, ...notes } });
  return saved.written ? { notes } : { notes, lostRace: saved };
}

/** Notes down which pods are about to go, and lets them go. */
export async function drain(
  context: DrainContext,
  decision: DecisionOf<'drain'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { notes, lostRace } = await noteActs(decision.active, decision.plan, observed);
  return lostRace ?? drainNotedPods(context, decision, notes, observed);
}

/** Carries one plan out, says why pods are left, and waits for what comes next. */
export async function drainNotedPods(
  context: DrainContext,
  { active, plan, isStuck, until: due }: DecisionOf<'drain'>,
  noted: NotedPods,
  observed: ObservedDrain,
): Promise<Turn> {
  const { reporter } = context;
  const result = await carryOutPlan(context, observed, { ...active, intents: noted.askedEvictions }, plan);
  const { remaining, warnedUids, askedEvictions, isReportRepeated, goneBy } = result;
  const notices = noticesOf(plan, remaining.texts);
  const reported = await reportNew(reporter, observed, notices, {
    before: active.reported,
    isReportRepeated,
  });
  const next: ActiveDrain = {
    ...(isStuck ? await reportStuck(context, active, notices, observed) : active),
    tried: noted.tried,
    returns: noted.returns,
    warned: [...active.warned, ...warnedUids],
    refusals: remaining.failures,
    askedEvictions,
    reported,
  };
  const until = withSafetyNet(observed, [plan.nextTime, remaining.retryTime, goneBy, due].reduce(earliest, undefined));
  const saved = await saveUntil(observed, { ...observed.record, active: next }, until);
  if (!saved.written) return saved;
  if (remaining.retriesAtOnce) return again('a pod changed');
  // A pod that was warned of may be due already.
  return warnedUids.length > 0 ? ONWARD : saved;
}
