/**
 * Changes that are refused, for one subject: remembered in its record, said, tried ever less often (I5, I11). A refusal is an answer, not
 * a failure: it stops the one change, and nothing else of the subject.
 *
 * | cause | tried again | said |
 * |---|---|---|
 * | `request`: a schema, a policy or EC2 says no | after 1, 2, 4 … 60 min | at once, then hourly |
 * | `permission`: the verb on the whole kind | after 1 min | at once, then hourly |
 * | `passing`: 409, 429, 5xx, time-outs | by the queue, within seconds; after 5 min every 5 min | after 5 min, then hourly |
 *
 * At once when what the try rests on has changed, or a deadline comes. How a concern uses it:
 * ```ts
 * const backoff = createBackoff(clock);                                // one for each run
 * const outcome = await backoff.try({ key, stored: record.refusals, restsOn: [object, settings], deadline, report }, change);
 * if (isRefused(outcome)) {                                            // it was refused now, or waits since it was
 *   return timedRecord.save({ …, refusals: backoff.refusalsAfter(value.refusals), wakeTime: outcome.until, redeliveryError: outcome.redeliveryError });
 * }
 * ```
 */
import { createHash } from 'node:crypto';
import { instant } from '../contract/instant.ts';
import type { Subject } from '../contract/subject.ts';
import * as z from '../contract/zod.ts';
import { cutText } from '../domain/cut-text.ts';
import { cutToBytes } from '../domain/printable.ts';
import { isJsonObject } from '../domain/json.ts';
import {
  retryNotBefore,
  isTransient,
  nextTry,
  noteRefusal,
  permissionIn,
  permissionOf,
  REFUSAL_CAUSES,
  textOfRefusal,
  type Refusal,
  type RefusalCause,
  type Refusals,
} from '../domain/refusal.ts';
import { addDuration, earliest, isDue, latest, minutes, whileAhead, type EpochMs } from '../domain/time.ts';
import { contendedError, OUT_OF_TIME, RetryableError, TerminalError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { KindNotServed } from '../ports/read-answer.ts';
import type { About, Reporter } from './reporter.ts';
import { MAX_TURNS } from './settle.ts';
import type { TimedRecord } from './timed-record.ts';

/** The field of a record that keeps its refusals. */
export const refusalsSchema = z.record(
  z.string(),
  z.object({
    cause: z.enum(REFUSAL_CAUSES),
    message: z.string(),
    basis: z.string(),
    count: z.int().check(z.positive()),
    firstTime: instant,
    lastTime: instant,
    saidTime: z.exactOptional(instant),
  }),
);

/** The outcome of a change that was not made. */
export interface RefusedChange {
  readonly kind: 'refused';
  readonly message: string;
  /** Time of the next look. */
  readonly until: EpochMs;
  readonly error: Error;
  /** Set if the refusal may pass within seconds. It is thrown once the record is written, and the queue brings the message again. */
  readonly redeliveryError: RetryableError | undefined;
}

/** Joins several refusals of one subject: the earliest time of the next look, and one error by which the message is redelivered. */
export const joinRefusals = (refused: readonly RefusedChange[]) => ({
  until: refused.map(({ until }) => until).reduce<EpochMs | undefined>(earliest, undefined),
  redeliveryError: refused.find(({ redeliveryError }) => redeliveryError !== undefined)?.redeliveryError,
});

export interface RefusableChange {
  /** Tells the changes of one subject apart. */
  readonly key: string;
  /** The refusals in its record. */
  readonly stored: Refusals | undefined;
  /** Objects and other values that the change depends on. Status and version of an object do not count. */
  readonly restsOn: readonly unknown[];
  /** At this time the change is tried at once. */
  readonly deadline?: EpochMs | undefined;
  /** Refusals that may pass within minutes are reported at once, too, but for a 404: what was listed may just have gone. */
  readonly isReportedAtOnce?: boolean | undefined;
  /** The most bytes of the message that are kept, for a subject with hundreds of changes. */
  readonly maxBytes?: number | undefined;
  /** Reports the refusal. Absent: it is never reported. @param isRepeated as in `Report` */
  readonly report?: ((text: string, isRepeated: boolean) => Promise<void>) | undefined;
}

/**
 * Backoff of the changes that one run makes, each of which may be refused. A repeated turn does not repeat a call that was refused. The
 * answers `undefined`, `changed`, `conflict` and `again` mean a lost race, `progressed` means partial progress. Neither clears a remembered
 * refusal. A run that loses many races counts as refused.
 */
export interface Backoff {
  readonly clock: Pick<Clock, 'now'>;
  try<Outcome>(change: RefusableChange, call: () => Promise<Outcome>): Promise<Outcome | RefusedChange>;
  /** The refusal because of which the change has to wait; undefined: it may be tried now. A caller with much to prepare asks this first. */
  waiting(change: Pick<RefusableChange, 'key' | 'stored' | 'restsOn' | 'deadline'>): RefusedChange | undefined;
  /** Forgets a refusal: the object of the change is gone. */
  forget(key: string): void;
  /** The refusals to write into the record; undefined: none. */
  refusalsAfter(stored: Refusals | undefined): Refusals | undefined;
}

export const isRefused = (outcome: unknown): outcome is RefusedChange =>
  isJsonObject(outcome) && outcome['kind'] === 'refused' && 'redeliveryError' in outcome;

export function createBackoff(clock: Pick<Clock, 'now'>): Backoff {
  const ownRefusals = new Map<string, Refusal | undefined>();
  /** Verbs on whole kinds that this run has found allowed again: all changes that wait for one are tried. */
  const allowed = new Set<string>();
  let races = 0;
  const known = ({ key, stored }: Pick<RefusableChange, 'key' | 'stored'>): Refusal | undefined =>
    ownRefusals.has(key) ? ownRefusals.get(key) : stored?.[key];
  /** The last try of any change of the subject that needs the permission: one probe serves all of them. */
  const lastTryFor = (permission: string, stored: Refusals | undefined, lastTry: EpochMs): EpochMs =>
    Object.values(refusalsAfter(stored) ?? {})
      .filter(refusal => permissionOf(refusal) === permission)
      .reduce((latestTry, { lastTime }) => latest(latestTry, lastTime), lastTry);
  const waiting: Backoff['waiting'] = ({ key, stored, restsOn, deadline }) => {
    const earlierRefusal = known({ key, stored });
    if (earlierRefusal === undefined) return undefined;
    const permission = permissionOf(earlierRefusal);
    if (permission !== undefined && allowed.has(permission)) return undefined;
    const lastTime =
      permission === undefined ? earlierRefusal.lastTime : lastTryFor(permission, stored, earlierRefusal.lastTime);
    const basis = basisOf(restsOn);
    const until = retryNotBefore({ ...earlierRefusal, lastTime }, { basis, now: clock.now(), deadline });
    if (until === undefined) return undefined;
    const { cause, message } = earlierRefusal;
    const error = cause === 'request' ? new TerminalError('Refused', message) : new RetryableError(message);
    return { kind: 'refused', message, until, error, redeliveryError: undefined };
  };
  const refusalsAfter: Backoff['refusalsAfter'] = stored => {
    if (ownRefusals.size === 0) return stored;
    const all = Object.entries<Refusal | undefined>({ ...stored, ...Object.fromEntries(ownRefusals) });
    const remembered = all.flatMap(([key, refusal]) => (refusal === undefined ? [] : [[key, refusal] as const]));
    return remembered.length === 0 ? undefined : Object.fromEntries(remembered);
  };
  return {
    clock,
    waiting,
    refusalsAfter,
    forget: key => void ownRefusals.set(key, undefined),
    async try(change, call) {
      const { key, stored, restsOn, deadline, maxBytes, report } = change;
      const refused = waiting(change);
      if (refused !== undefined) return refused;
      const earlierRefusal = known(change);
      const now = clock.now();
      const comingDeadline = whileAhead(now, deadline);
      try {
        const outcome = await call();
        if (isLost(outcome)) {
          races += 1;
          if (races >= MAX_TURNS) throw contendedError('each change of it conflicts with another one');
        }
        if (earlierRefusal !== undefined && !isLost(outcome) && !isProgress(outcome)) {
          ownRefusals.set(key, undefined);
          allowed.add(permissionOf(earlierRefusal) ?? '');
        }
        return outcome;
      } catch (error) {
        const cause = causeOf(error);
        if (cause === undefined || !(error instanceof Error)) throw error;
        const message = keptText(error.message, maxBytes);
        const why = { cause, message, basis: basisOf(restsOn), now };
        const isReportedAtOnce = change.isReportedAtOnce === true && !mayBeGone(error);
        const { refusal, reportKind } = noteRefusal(refusalsAfter(stored), key, why, report && { isReportedAtOnce });
        const isKept = refusal === earlierRefusal;
        // Reported before it is recorded: a run that dies in between reports it again (I9).
        if (reportKind === 'news' || reportKind === 'again') {
          await report?.(textOfRefusal(refusal), reportKind === 'again');
        }
        ownRefusals.set(key, refusal);
        const isRedelivered = error instanceof RetryableError && (isKept || isTransient(refusal));
        const redeliveryError = isRedelivered ? error : undefined;
        const nextTryTime = isKept ? addDuration(now, minutes(1)) : nextTry(refusal);
        const until = earliest(nextTryTime, comingDeadline);
        return { kind: 'refused', message, until, error, redeliveryError };
      }
    },
  };
}

const mayBeGone = (error: Error): boolean => error instanceof RetryableError && error.reason === 'NotFound';

/** The message, cut. Verb and kind that are not allowed are never cut off, since changes that wait for the same ones are tried together. */
function keptText(message: string, maxBytes: number | undefined): string {
  const kept = maxBytes === undefined ? cutText(message) : cutToBytes(message, maxBytes);
  const permission = permissionIn(message);
  return permission === undefined || kept.includes(permission) ? kept : permission;
}

const LOST: readonly unknown[] = ['changed', 'conflict', 'again'];
/** Whether nothing was changed and nothing refused: somebody else was first, or the object is to be looked at again. */
const isLost = (outcome: unknown): boolean =>
  outcome === undefined || LOST.includes(isJsonObject(outcome) ? outcome['kind'] : outcome);
/** Whether a step carried out one of several things, or lost a race for one. */
const isProgress = (outcome: unknown): boolean => isJsonObject(outcome) && outcome['kind'] === 'progressed';

/** The usual report of a refusal: a Warning Event and an audit line. */
export const reportWarning =
  (reporter: Reporter, about: About, reason: string, decision = 'wait'): NonNullable<RefusableChange['report']> =>
  (message, isRepeated) =>
    reporter.report({ about, decision, reason, message, isRepeated, event: { type: 'Warning' } });

/** The key of reads that are refused. */
const READ = 'read';

export interface UnreadSubject<Value> {
  readonly backoff: Backoff;
  /** Undefined: nobody knows yet which subject it is. */
  readonly timedRecord: TimedRecord<Value> | undefined;
  /** The record to write if there is none yet; undefined: there is no need to. */
  readonly first?: { readonly subject: Subject; readonly value: Value } | undefined;
  /** The message asks for something that is nowhere else: it comes again. */
  readonly isRequest: boolean;
  readonly reportOf: (subject: Subject) => RefusableChange['report'];
}

/**
 * Remembers in its record that a subject, or what it is judged by, cannot be read, and reports it like a refused change. Nothing is done to it (I6).
 * A timer that is ahead stays: at its time the read is tried, too. So does one that has come while the failure may pass within seconds.
 *
 * @throws the error, where no record can keep it
 */
export async function noteRefusedRead<Value extends { readonly refusals?: Refusals | undefined }>(
  error: Error,
  { backoff, timedRecord, first, isRequest, reportOf }: UnreadSubject<Value>,
): Promise<void> {
  const loaded = error instanceof RetryableError ? await timedRecord?.load() : undefined;
  const stored =
    loaded?.kind === 'known'
      ? { subject: loaded.stored.subject, value: loaded.value }
      : loaded?.kind === 'none' && first;
  if (timedRecord === undefined || !stored) throw error;
  const { subject, value } = stored;
  const read = { key: READ, stored: value.refusals, restsOn: [], report: reportOf(subject) };
  const outcome = await backoff.try(read, () => Promise.reject(error));
  if (!isRefused(outcome)) throw error;
  const refusals = backoff.refusalsAfter(value.refusals);
  const { until, redeliveryError } = outcome;
  const armed = loaded?.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
  const isPutOff = redeliveryError === undefined && armed !== undefined && isDue(backoff.clock.now(), armed);
  const wakeTime = isPutOff ? until : earliest(until, armed);
  const next = { ...value, ...(refusals !== undefined && { refusals }) };
  const saved = await timedRecord.save({ subject, value: next, wakeTime, redeliveryError });
  if (!saved.written || isRequest) throw error;
}

/** The record of a subject that could be read. */
export function withoutRefusedRead<Value extends { readonly refusals?: Refusals | undefined }>({
  refusals = {},
  ...fields
}: Value): Omit<Value, 'refusals'> & { readonly refusals?: Refusals } {
  const { [READ]: _, ...others } = refusals;
  return Object.keys(others).length === 0 ? fields : { ...fields, refusals: others };
}

/** Cause of a refusal; undefined: the error is no refusal, and the caller throws it on. */
export function causeOf(error: unknown): RefusalCause | undefined {
  if (error instanceof TerminalError) return 'request';
  if (!(error instanceof RetryableError) || error instanceof KindNotServed || error.reason === OUT_OF_TIME) return;
  if (error.isReadRefused) return 'request';
  if (error.isForbidden) return 'permission';
  if (error.reason !== 'Forbidden') return 'passing';
  return error.permission === undefined ? 'request' : 'permission';
}

const BASIS_CHARS = 16;

/**
 * The hash of `RefusableChange.restsOn`, for a rule that asks `retryNotBefore` by itself. The order of fields does not count: settings that a
 * record has kept have another one than those that were just read.
 */
export function basisOf(values: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(values.map(withoutStatus), sortedFields))
    .digest('hex')
    .slice(0, BASIS_CHARS);
}

/** Replaces an object by one whose fields are in the order of their names. */
const sortedFields = (_: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

/** The object without status and version: neither heartbeats nor our own status writes are a change that somebody made on purpose. */
function withoutStatus(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return value ?? null;
  const { status: _, metadata, ...fields } = value;
  const { resourceVersion: __, managedFields: ___, generation: ____, ...named } = metadata as Record<string, unknown>;
  return { ...fields, metadata: named };
}
