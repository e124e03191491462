/**
 * Writes the status of the NodeLifecyclePolicies. A look observes (`policy-facts.ts`), decides (`policy-summary.ts`)
 * and applies: only what differs is written. One look at a time is for all policies, and one record says when the last
 * one was. Without a policy there is neither.
 */
import { observePolicies } from './policy-facts.ts';
import { decideStatus, type StatusDecision } from './policy-summary.ts';
import { OWNER } from './record.ts';
import { oneByOne } from '../../shared/cluster/in-parallel.ts';
import { instant } from '../../shared/contract/instant.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import * as z from '../../shared/contract/zod.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  isReportDue,
  minutes,
  seconds,
} from '../../shared/domain/time.ts';
import { type Coalescer, createCoalescer } from '../../shared/lifecycle/coalesce.ts';
import { ALL } from '../../shared/lifecycle/next-round.ts';
import { checkedCodec, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { reportWarning } from '../../shared/lifecycle/refusals.ts';
import { type LastingReport, type Reporter, reportLasting } from '../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import {
  doneIfWritten,
  isTimerOf,
  openRecord,
  updateRecord,
  type UsedWakeUp,
} from '../../shared/lifecycle/timed-record.ts';
import type { WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import { changeStatus } from '../../shared/ports/exact-change.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { orRejected, type RejectedCall } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'> & {
  readonly reporter: Reporter;
};

const schema = z.object({
  /** Time at which the latest look began. */
  lookTime: instant,
  /**
   * Time at which the latest look began that also wrote statuses that differ in numbers alone; absent: the same look.
   */
  countTime: z.exactOptional(instant),
  /** Reasons why statuses could not be written, as they were reported; a line each. */
  refused: z.exactOptional(z.string()),
  /** Time at which Events said so last. */
  refusedTime: z.exactOptional(instant),
});

type StatusRecord = Readonly<z.output<typeof schema>>;

export const STATUS_CODEC: RecordCodec<StatusRecord> = checkedCodec(OWNER, schema, 1);

const countTimeOf = ({ countTime, lookTime }: StatusRecord): EpochMs => countTime ?? lookTime;

const NAME = 'policy-status';

/** The subject of the record, with a name that no policy can have. */
const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: '*' };

/** Looks that also write statuses that differ in numbers alone are this far apart … */
const COUNT_SPACING = minutes(5);

/** … looks because a pool has repairs by now, or none any more, are this far … */
const ZERO_SPACING = seconds(10);

/** … and looks because somebody edited a policy, or because the timer is due, this far. */
const SPACING = seconds(1);

/** A write that was refused is tried again after this long. */
const REFUSED_CHECK = minutes(5);

/** A change without a message is noticed after this long. */
const CHECK = hours(1);

/** Asks for a look after a policy was added, edited or removed. */
export async function policyChanged(deps: Deps): Promise<void> {
  await looksOf(deps).request(ALL);
}

/** Asks for a look after pools, nodes, repairs or the gate changed. @param urgency `count`: only numbers did */
export async function surroundingsChanged(deps: Deps, urgency: 'count' | 'zero'): Promise<void> {
  let isNow = false;
  const record = openRecord(deps, STATUS_CODEC, NAME);
  await updateRecord(WHAT, record, async loaded => {
    if (loaded.kind === 'none') return DONE;
    const { value, stored } = loaded;
    const next =
      urgency === 'count' ? addDuration(countTimeOf(value), COUNT_SPACING) : addDuration(value.lookTime, ZERO_SPACING);
    isNow = isDue(deps.clock.now(), next);
    const isAsked = stored.nextWakeTime !== undefined && stored.nextWakeTime <= next;
    return isNow || isAsked ? DONE : doneIfWritten(await record.save({ subject: SUBJECT, value, wakeTime: next }));
  });
  if (isNow) await policyChanged(deps);
}

/** Asks for a look when the timer of the record is due. */
export async function statusDue(deps: Deps, wakeUp: UsedWakeUp): Promise<void> {
  const loaded = await openRecord(deps, STATUS_CODEC, NAME).load();
  if (isTimerOf(loaded, wakeUp, deps.clock.now())) await policyChanged(deps);
}

/** Timers of the record, and of a look that waits or has died. */
export const statusTimers = (deps: Deps): readonly WakeUpRoute[] => [
  {
    takes: ({ kind, name }) => kind === SUBJECT.kind && name === SUBJECT.name,
    timerDue: wakeUp => statusDue(deps, wakeUp),
  },
  looksOf(deps),
];

const WHAT = 'the status of the policies';

const looksOf = (deps: Deps): Coalescer =>
  createCoalescer(deps, { owner: OWNER, name: NAME, spacing: SPACING, run: () => look(deps) });

/** Looks at all policies and writes what differs. Answers how long the next look waits. */
async function look(deps: Deps): Promise<DurationMs> {
  const record = openRecord(deps, STATUS_CODEC, NAME);
  const begun = deps.clock.now();
  let statusBefore: StatusRecord | undefined;
  let countTime = begun;
  const keep = async (refused: Partial<StatusRecord> | undefined, wakeTime: EpochMs): Promise<Turn> => {
    const value: StatusRecord = { ...refused, lookTime: begun, countTime };
    return doneIfWritten(await record.save({ subject: SUBJECT, value, wakeTime }));
  };
  await updateRecord(WHAT, record, async loaded => {
    statusBefore = loaded.kind === 'known' ? loaded.value : undefined;
    const last = statusBefore && countTimeOf(statusBefore);
    countTime = last === undefined || isDue(begun, addDuration(last, COUNT_SPACING)) ? begun : last;
    return keep(statusBefore, addDuration(begun, CHECK));
  });
  const outcome = await writeStatuses(deps, countTime === begun);
  const { refused: refusedWrites = [], waits = false } = outcome ?? {};
  // Said before it is recorded: a run that dies in between says it again (I9).
  const isRepeatDue = isReportDue(begun, statusBefore?.refusedTime);
  const text = await reportLasting(refusedWrites, statusBefore?.refused, { isRepeatDue });
  const refused =
    refusedWrites.length > 0
      ? { ...statusBefore, refused: text, ...(isRepeatDue && { refusedTime: begun }) }
      : undefined;
  await updateRecord(WHAT, record, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    if (outcome === undefined) return record.release();
    const check = addDuration(deps.clock.now(), refused === undefined ? CHECK : REFUSED_CHECK);
    const counts = waits ? addDuration(countTime, COUNT_SPACING) : undefined;
    // Somebody may have asked for an earlier look meanwhile.
    const wakeTime = [check, counts, loaded.stored.nextWakeTime].reduce(earliest, undefined) ?? check;
    return keep(refused, wakeTime);
  });
  return SPACING;
}

/**
 * Report about a status that the API server does not let us write, as admission policies can cause: in one audit line
 * until it changes, and once an hour in an Event.
 */
function refusedReport({ reporter }: Deps, policy: KubernetesObject, { message: text }: RejectedCall): LastingReport {
  const report = reportWarning(reporter, policy, EVENT_REASONS.changeRefused, 'refused');
  return { text, report: isRepeated => report(`${text}; it is tried again every five minutes`, isRepeated) };
}

interface StatusesWritten {
  readonly refused: readonly LastingReport[];
  /** Some statuses differ in numbers that are written later. */
  readonly waits: boolean;
}

/**
 * Observes, decides and applies: writes every status that is not as it should be. undefined: there is no policy.
 *
 * @param counts statuses that differ in numbers alone are written, too
 */
async function writeStatuses(deps: Deps, counts: boolean): Promise<StatusesWritten | undefined> {
  const observed = await observePolicies(deps);
  if (observed === undefined) return undefined;
  const refused: LastingReport[] = [];
  let waits = false;
  await oneByOne(observed.policies, async policy => {
    const decision = decideStatus(policy, observed.cluster, { counts, now: deps.clock.now() });
    switch (decision.kind) {
      case 'same':
        return;
      case 'later':
        waits = true;
        return;
      case 'write': {
        const outcome = await writeStatus(deps, policy.object, decision);
        if (outcome.kind === 'rejected') refused.push(refusedReport(deps, policy.object, outcome));
      }
    }
  });
  return { refused, waits };
}

async function writeStatus(
  { kubernetes, reporter }: Deps,
  object: KubernetesObject,
  { status, warning }: Extract<StatusDecision, { kind: 'write' }>,
) {
  // Said first: a run that dies in between says it again (I9).
  if (warning !== undefined) await reportWarning(reporter, object, warning.reason, 'warn')(warning.message, false);
  const { uid, name } = object.metadata;
  const ref = { type: RESOURCES.NodeLifecyclePolicy, name };
  // One that was replaced by another of its name has an event of its own.
  return orRejected(changeStatus(kubernetes, ref, { uid }, status));
}
