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
  heldAfter,
  leftAfter,
  withIntents,
  type EndedPod,
  type HeldEvictions,
  type PodsLeft,
} from '../../shared/pods/drain-pods.ts';
import { type DrainContext, safely, saveForNow, saveUntil } from './context.ts';
import type { DrainDecision } from './rule/decision.ts';
import type { DrainDeps, ObservedDrain } from './observe.ts';
import { type PodPlan, type PodAct, withReturned } from './rule/pod-plan.ts';
import { withTried } from './rule/progress.ts';
import type { ActiveDrain } from './record.ts';
import { noticesOf, saidStuck, sayNew } from './report.ts';

type PodEnd = Exclude<PodAct, { kind: 'warn' }>;
type Of<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;
type Warning = Extract<PodAct, { kind: 'warn' }>;

export interface PlanResult {
  /** UIDs of pods whose owners have been warned. */
  readonly warned: readonly string[];
  /** Pods that go because of this plan. */
  readonly drained: number;
  /** What it leaves undone. */
  readonly left: PodsLeft;
  /** A refusal is to be reported once more. */
  readonly isSaidAgain: boolean;
  /** Evictions that are not asked for again for a moment. */
  readonly heldEvictions: HeldEvictions;
  /** The latest time at which the first of the pods that this plan ends should be gone. */
  readonly goneBy: EpochMs | undefined;
}

/** A call that fails is the answer for its pod: the others are carried out. */
export async function carryOutPlan(
  { deps, reporter }: DrainContext,
  observed: ObservedDrain,
  active: Pick<ActiveDrain, 'id' | 'refusals' | 'heldEvictions'> & { readonly intents?: HeldEvictions | undefined },
  { acts }: PodPlan,
): Promise<PlanResult> {
  const { now, object: node, record, tries, mode, limits, rules } = observed;
  const { name } = node.metadata;
  const warnings = acts.filter(act => act.kind === 'warn');
  await fewAtATime(warnings, act => warn({ deps, reporter }, act, name));
  let isSaidAgain = false;
  const ended = await endPods(
    { ...deps, reporter },
    {
      ends: acts.filter(act => act.kind !== 'warn'),
      unchanged: true,
      heldEvictions: active.heldEvictions,
      now,
      tries,
      refusals: record.refusals,
      restsOn: [active.id, mode, limits, rules?.settings],
      describe: end => describe(end, name),
      // What holds the pods that are left is said of all together.
      say: async (_, __, isRepeated) => void (isSaidAgain ||= isRepeated),
    },
  );
  const evicted = ended.flatMap(({ end: { pod }, answer }) => (answer.kind === 'evicted' ? [qualifiedName(pod)] : []));
  if (evicted.length > 0) await sayEvicted(deps, node, evicted);
  const going = ended.filter(({ answer: { kind } }) => kind === 'evicted' || kind === 'deleted');
  return {
    warned: warnings.map(({ pod }) => pod.uid),
    drained: going.length,
    left: leftAfter(active.refusals, ended, now),
    isSaidAgain,
    heldEvictions: heldAfter(active.heldEvictions, ended, now, active.intents),
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
const inSpiteOf = ({ overrides }: PodEnd): string =>
  overrides === undefined ? '' : '; it was protected, and its NodeClaim is past its termination timestamp';

const overriddenBy = ({ overrides }: PodEnd): JsonObject =>
  overrides === undefined ? {} : { overriddenProtection: overrides.kind };

/** One for a plan, on the Node: Events of each pod would be half of what a storm writes (ADR 0016). */
function sayEvicted({ events }: DrainDeps, node: KubernetesObject, pods: readonly string[]): Promise<void> {
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

type Noted = Pick<ActiveDrain, 'tried' | 'returns' | 'heldEvictions'>;

/** What the record says of pods before anything happens to them. Of two runs that look at once, only the one that writes it goes on. */
export function notedBefore(active: ActiveDrain, plan: PodPlan, { now, record }: ObservedDrain): Noted {
  return {
    tried: withTried(active, plan),
    returns: withReturned(active.returns, plan.returned, now),
    heldEvictions: withIntents(active.heldEvictions, plan.acts, now, record.refusals),
  };
}

/** Notes down which pods are about to go, where the record does not say so yet. `lost`: another run wrote first, so this one leaves them alone. */
export async function noteActs(
  active: ActiveDrain,
  plan: PodPlan,
  observed: ObservedDrain,
): Promise<{ readonly noted: Noted; readonly lost?: Turn }> {
  const noted = notedBefore(active, plan, observed);
  const isNew = (['tried', 'returns', 'heldEvictions'] as const).some(key => noted[key] !== active[key]);
  if (!isNew) return { noted };
  const saved = await saveForNow(observed, { ...observed.record, active: { ...active, ...noted } });
  return saved.written ? { noted } : { noted, lost: saved };
}

/** Notes down which pods are about to go, and lets them go. */
export async function drain(context: DrainContext, decision: Of<'drain'>, observed: ObservedDrain): Promise<Turn> {
  const { noted, lost } = await noteActs(decision.active, decision.plan, observed);
  return lost ?? drainNoted(context, decision, noted, observed);
}

/** Carries one plan out, says what holds the pods that are left, and waits for what comes next. */
export async function drainNoted(
  context: DrainContext,
  { active, plan, isStuck, until: due }: Of<'drain'>,
  noted: Noted,
  observed: ObservedDrain,
): Promise<Turn> {
  const { reporter } = context;
  const result = await carryOutPlan(context, observed, { ...active, intents: noted.heldEvictions }, plan);
  const { left, warned, heldEvictions, isSaidAgain, goneBy } = result;
  const notices = noticesOf(plan, left.texts);
  const reported = await sayNew(reporter, observed, notices, { before: active.reported, isSaidAgain });
  const next: ActiveDrain = {
    ...(isStuck ? await saidStuck(context, active, notices, observed) : active),
    tried: noted.tried,
    returns: noted.returns,
    warned: [...active.warned, ...warned],
    refusals: left.failures,
    heldEvictions,
    reported,
  };
  const until = safely(observed, [plan.nextTime, left.retryTime, goneBy, due].reduce(earliest, undefined));
  const saved = await saveUntil(observed, { ...observed.record, active: next }, until);
  if (!saved.written) return saved;
  if (left.isAtOnce) return again('a pod changed');
  // A pod that was warned of may be due already.
  return warned.length > 0 ? ONWARD : saved;
}
