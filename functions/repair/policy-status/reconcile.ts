/**
 * Keeps the status of the NodeLifecyclePolicies. A look observes all policies, decides on the status of each, and writes
 * what differs. One look at a time is for all, and one record says when the last one was.
 */
import { apply } from './apply.ts';
import type { PolicyStatusDeps } from './context.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { countTimeOf, STATUS_CODEC, STATUS_ID, STATUS_SUBJECT, type StatusRecord } from './record.ts';
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
import { type LastingReport, reportLasting } from '../../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { doneIfWritten, openRecord, type TimedRecord, updateRecord } from '../../../shared/lifecycle/timed-record.ts';

/** Looks that also write statuses that differ in numbers alone are this far apart. */
export const COUNT_SPACING = minutes(5);

/** Looks because somebody edited a policy, or because the timer is due, are this far apart. */
export const SPACING = seconds(1);

/** A write that was refused is tried again after this long. */
const REFUSED_CHECK = minutes(5);

/** A change without a message is noticed after this long. */
const CHECK = hours(1);

export const STATUS_TEXT = 'the status of the policies';

/** Looks at all policies and writes what differs. Answers how long the next look waits. */
export async function reconcilePolicies(deps: PolicyStatusDeps): Promise<DurationMs> {
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
  await updateRecord(STATUS_TEXT, timedRecord, async loaded => {
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
  await updateRecord(STATUS_TEXT, timedRecord, async loaded => {
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
