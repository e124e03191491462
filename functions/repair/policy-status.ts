/**
 * When the status of the NodeLifecyclePolicies is looked at: one record for all of them says when it was last. Whatever may change a status
 * asks for a look; looks are apart from each other. Without a policy there is no record and no look.
 */
import { type RefusedStatus, writeStatuses } from './write-status.ts';
import { OWNER } from './record.ts';
import { instant } from '../../shared/contract/instant.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import * as z from '../../shared/contract/zod.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  minutes,
  seconds,
} from '../../shared/domain/time.ts';
import { checkedCodec, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE } from '../../shared/lifecycle/settle.ts';
import { openRecord, updateRecord, type UsedWakeUp, written } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'> & {
  readonly reporter: Reporter;
};

const schema = z.object({
  /** When the latest look began. */
  lookTime: instant,
  /** When the latest began that wrote what is nothing but numbers, too; absent: that look. */
  countTime: z.exactOptional(instant),
  /** It has not ended yet. */
  underWay: z.exactOptional(z.literal(true)),
  /** Why statuses could not be written, as it was said; a line each. */
  refused: z.exactOptional(z.string()),
});

type StatusRecord = Readonly<z.output<typeof schema>>;

export const statusCodec: RecordCodec<StatusRecord> = checkedCodec(OWNER, schema, 1);

const countTimeOf = ({ countTime, lookTime }: StatusRecord): EpochMs => countTime ?? lookTime;

const RECORD_ID = 'policy-status';

/** A name that no policy can have. */
const ALL = '*';

const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: ALL };

/** Whether a wake-up with this subject is about the statuses of all policies. */
export const isAllPolicies = ({ kind, name }: Pick<Subject, 'kind' | 'name'>): boolean =>
  kind === SUBJECT.kind && name === ALL;

/** Looks that write what is nothing but numbers, in whatever status, are this far apart … */
const COUNT_SPACING = minutes(5);

/** … and looks because a pool has repairs by now, or none any more, are this far. */
const ZERO_SPACING = seconds(10);

/** Looks because somebody edited a policy. */
const EDIT_SPACING = seconds(1);

/** What was refused is tried again after this long, and said to be. */
const REFUSED_CHECK = minutes(5);

/** A change without a message is noticed after this long. */
const CHECK = hours(1);

/** A policy was added, edited or removed. */
export const policyChanged = (deps: Deps): Promise<void> => request(deps, EDIT_SPACING, true);

/** Pools, nodes, repairs or the gate changed. @param urgency `count`: only numbers did */
export const surroundingsChanged = (deps: Deps, urgency: 'count' | 'zero'): Promise<void> =>
  request(deps, urgency === 'count' ? COUNT_SPACING : ZERO_SPACING, false);

/** The timer is due. */
export const statusDue = (deps: Deps, wakeUp: UsedWakeUp): Promise<void> => request(deps, EDIT_SPACING, false, wakeUp);

async function request(deps: Deps, spacing: DurationMs, creates: boolean, wakeUp?: UsedWakeUp): Promise<void> {
  let claimed: StatusRecord | undefined;
  const record = openRecord(deps, statusCodec, RECORD_ID, wakeUp);
  await updateRecord('the status of the policies', record, async loaded => {
    if (loaded.kind === 'none' && !creates) return DONE;
    const now = deps.clock.now();
    const next = loaded.kind === 'known' ? nextTime(loaded.value, spacing) : now;
    const armed = loaded.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
    if (!isDue(now, next)) {
      if (loaded.kind !== 'known' || (armed !== undefined && armed <= next)) return DONE;
      const saved = await record.save({ subject: SUBJECT, value: loaded.value, wakeTime: next });
      return written(saved);
    }
    const wakeTime = addDuration(now, RUN_ENDS_WITHIN);
    const before = loaded.kind === 'known' ? loaded.value : undefined;
    const counts = before === undefined || isDue(now, addDuration(countTimeOf(before), COUNT_SPACING));
    const value: StatusRecord = {
      ...before,
      lookTime: now,
      countTime: counts ? now : countTimeOf(before),
      underWay: true,
    };
    const saved = await record.save({ subject: SUBJECT, value, wakeTime, punctual: false });
    if (saved.written) claimed = value;
    return written(saved);
  });
  if (claimed === undefined) return;
  const { lookTime: begun } = claimed;
  const outcome = await writeStatuses(deps, begun === countTimeOf(claimed));
  const { refused: left = [], waits = false } = outcome ?? {};
  const refused = left.length > 0 ? left.map(lineOf).join('\n') : undefined;
  // Said before it is recorded: a run that dies in between says it again (I9).
  await sayRefused(deps, left, claimed.refused);
  await updateRecord('the status of the policies', record, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    if (outcome === undefined) return record.release();
    // Somebody asked for another look meanwhile.
    const { nextWakeTime } = loaded.stored;
    const { lookTime, refused: before } = loaded.value;
    const isAsked = nextWakeTime !== undefined && nextWakeTime < addDuration(lookTime, RUN_ENDS_WITHIN);
    if (isAsked && before === refused) return DONE;
    const check = addDuration(deps.clock.now(), refused === undefined ? CHECK : REFUSED_CHECK);
    const last = waits ? (earliest(check, addDuration(countTimeOf(loaded.value), COUNT_SPACING)) ?? check) : check;
    const value: StatusRecord = {
      lookTime,
      countTime: countTimeOf(loaded.value),
      ...(refused !== undefined && { refused }),
    };
    const saved = await record.save({ subject: SUBJECT, value, wakeTime: isAsked ? nextWakeTime : last });
    return written(saved);
  });
}

const nextTime = (record: StatusRecord, spacing: DurationMs): EpochMs =>
  addDuration(spacing === COUNT_SPACING ? countTimeOf(record) : record.lookTime, spacing);

const lineOf = ({ refused }: RefusedStatus): string => refused.message.replaceAll('\n', ' ');

/** Each in one audit line, until it changes. @param before the lines of the look before */
async function sayRefused({ reporter }: Deps, left: readonly RefusedStatus[], before = ''): Promise<void> {
  const said = new Set(before.split('\n'));
  for (const each of left) {
    const { policy: about, refused } = each;
    const message = `${refused.message}; it is tried again every five minutes`;
    const isRepeated = said.has(lineOf(each));
    const reason = EVENT_REASONS.changeRefused;
    await reporter.report({ about, decision: 'refused', reason, message, isRepeated, event: { type: 'Warning' } });
  }
}
