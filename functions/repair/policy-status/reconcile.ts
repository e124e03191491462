/**
 * Keeps the status of the NodeLifecyclePolicies. A look observes all policies, decides on the status of each, and writes
 * what differs. One look at a time is for all, and one record says when the last one was.
 */
import { apply } from './apply.ts';
import type { PolicyStatusDeps } from './context.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { countTimeOf, STATUS_CODEC, STATUS_ID, STATUS_SUBJECT, type StatusRecord } from './record.ts';
import { OWNER } from '../common/context.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
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
} from '../../../shared/domain/time.ts';
import { type Coalescer, createCoalescer } from '../../../shared/lifecycle/coalesce.ts';
import { ALL } from '../../../shared/lifecycle/next-round.ts';
import { type LastingReport, reportLasting } from '../../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import {
  doneIfWritten,
  isTimerOf,
  openRecord,
  type TimedRecord,
  updateRecord,
  type UsedWakeUp,
} from '../../../shared/lifecycle/timed-record.ts';
import type { WakeUpRoute } from '../../../shared/lifecycle/wake-up-route.ts';

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
export async function policyChanged(deps: PolicyStatusDeps): Promise<void> {
  await looksOf(deps).request(ALL);
}

/** Asks for a look after pools, nodes, repairs or the gate changed. @param urgency `count`: only numbers did */
export async function surroundingsChanged(deps: PolicyStatusDeps, urgency: 'count' | 'zero'): Promise<void> {
  let isNow = false;
  const timedRecord = openRecord(deps, STATUS_CODEC, STATUS_ID);
  await updateRecord(WHAT, timedRecord, async loaded => {
    if (loaded.kind === 'none') return DONE;
    const { value, stored } = loaded;
    const next =
      urgency === 'count' ? addDuration(countTimeOf(value), COUNT_SPACING) : addDuration(value.lookTime, ZERO_SPACING);
    isNow = isDue(deps.clock.now(), next);
    const isAsked = stored.nextWakeTime !== undefined && stored.nextWakeTime <= next;
    return isNow || isAsked
      ? DONE
      : doneIfWritten(await timedRecord.save({ subject: STATUS_SUBJECT, value, wakeTime: next }));
  });
  if (isNow) await policyChanged(deps);
}

/** Asks for a look when the timer of the record is due. */
export async function statusDue(deps: PolicyStatusDeps, wakeUp: UsedWakeUp): Promise<void> {
  const loaded = await openRecord(deps, STATUS_CODEC, STATUS_ID).load();
  if (isTimerOf(loaded, wakeUp, deps.clock.now())) await policyChanged(deps);
}

/** Timers of the record, and of a look that waits or has died. */
export const statusTimers = (deps: PolicyStatusDeps): readonly WakeUpRoute[] => [
  {
    takes: ({ kind, name }) => kind === STATUS_SUBJECT.kind && name === STATUS_SUBJECT.name,
    timerDue: wakeUp => statusDue(deps, wakeUp),
  },
  looksOf(deps),
];

const WHAT = 'the status of the policies';

const looksOf = (deps: PolicyStatusDeps): Coalescer =>
  createCoalescer(deps, { owner: OWNER, name: STATUS_ID, spacing: SPACING, run: () => look(deps) });

/** Looks at all policies and writes what differs. Answers how long the next look waits. */
async function look(deps: PolicyStatusDeps): Promise<DurationMs> {
  const begun = await beginLook(deps);
  const written = await writeStatuses(deps, begun.countTime === begun.lookTime);
  await endLook(deps, begun, written);
  return SPACING;
}

/** A look that its record knows of. */
interface BegunLook {
  readonly timedRecord: TimedRecord<StatusRecord>;
  /** The record as the previous look left it. */
  readonly before: StatusRecord | undefined;
  readonly lookTime: EpochMs;
  /** Equals `lookTime` if this look also writes statuses that differ in numbers alone. */
  readonly countTime: EpochMs;
}

async function beginLook(deps: PolicyStatusDeps): Promise<BegunLook> {
  const timedRecord = openRecord(deps, STATUS_CODEC, STATUS_ID);
  const lookTime = deps.clock.now();
  let begun: BegunLook = { timedRecord, before: undefined, lookTime, countTime: lookTime };
  await updateRecord(WHAT, timedRecord, async loaded => {
    const before = loaded.kind === 'known' ? loaded.value : undefined;
    const last = before && countTimeOf(before);
    const isCountDue = last === undefined || isDue(lookTime, addDuration(last, COUNT_SPACING));
    begun = { timedRecord, before, lookTime, countTime: isCountDue ? lookTime : last };
    return keep(begun, before, addDuration(lookTime, CHECK));
  });
  return begun;
}

/** Reports what was refused, and keeps when the next look is. @param written undefined: there is no policy */
async function endLook(deps: PolicyStatusDeps, begun: BegunLook, written: StatusesWritten | undefined): Promise<void> {
  const { timedRecord, before, lookTime, countTime } = begun;
  const { refused = [], waits = false } = written ?? {};
  const isRefused = refused.length > 0;
  // Said before it is recorded: a run that dies in between says it again (I9).
  const isRepeatDue = isReportDue(lookTime, before?.refusedTime);
  const text = await reportLasting(refused, before?.refused, { isRepeatDue });
  const reported = isRefused ? { ...before, refused: text, ...(isRepeatDue && { refusedTime: lookTime }) } : undefined;
  await updateRecord(WHAT, timedRecord, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    if (written === undefined) return timedRecord.release();
    const check = addDuration(deps.clock.now(), isRefused ? REFUSED_CHECK : CHECK);
    const counts = waits ? addDuration(countTime, COUNT_SPACING) : undefined;
    // Somebody may have asked for an earlier look meanwhile.
    const wakeTime = [check, counts, loaded.stored.nextWakeTime].reduce(earliest, undefined) ?? check;
    return keep(begun, reported, wakeTime);
  });
}

/** Writes the record of a look. @param reported what it says of refused writes; undefined: none was refused */
async function keep(
  { timedRecord, lookTime, countTime }: BegunLook,
  reported: Partial<StatusRecord> | undefined,
  wakeTime: EpochMs,
): Promise<Turn> {
  const value: StatusRecord = { ...reported, lookTime, countTime };
  return doneIfWritten(await timedRecord.save({ subject: STATUS_SUBJECT, value, wakeTime }));
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
async function writeStatuses(deps: PolicyStatusDeps, counts: boolean): Promise<StatusesWritten | undefined> {
  const policies = await observe(deps);
  if (policies.length === 0) return undefined;
  const refused: LastingReport[] = [];
  let waits = false;
  await oneByOne(policies, async policy => {
    const decision = decide(policy, { counts, now: deps.clock.now() });
    if (decision.kind === 'later') waits = true;
    const report = await apply(deps, policy.object, decision);
    if (report !== undefined) refused.push(report);
  });
  return { refused, waits };
}
