/** The memory of a refused change, and when the change is tried again (I5, I11). Pure. */
import {
  addDuration,
  doubledWait,
  durationBetween,
  earliest,
  isDue,
  isReportDue,
  minutes,
  whileAhead,
} from './time.ts';
import type { DurationMs, EpochMs } from './time.ts';

/**
 * `request`: a schema, an admission policy or EC2 says no to this very change. `permission`: the verb on the whole kind is not allowed.
 * `passing`: 409, 429, 5xx, a time-out, a lost connection.
 */
export const REFUSAL_CAUSES = ['request', 'permission', 'passing'] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

/** One change that is refused, as the record of its subject remembers it. */
export interface Refusal {
  readonly cause: RefusalCause;
  readonly message: string;
  /** Hash of the values that the try rested on. If it changes, the next try is made at once. */
  readonly basis: string;
  /** Refusals in a row. */
  readonly count: number;
  readonly firstTime: EpochMs;
  readonly lastTime: EpochMs;
  /** Time of the last report of it. */
  readonly saidTime?: EpochMs;
}

/** The refused changes of one subject, by what they would change. */
export type Refusals = Readonly<Record<string, Refusal>>;

const FIRST_WAIT = minutes(1);
const LONGEST_WAITS: Readonly<Record<RefusalCause, DurationMs>> = {
  request: minutes(60),
  permission: minutes(1),
  passing: minutes(5),
};

/** 1, 2, 4 … min, up to the longest of its cause. @param count refusals in a row, from 1 */
export const waitAfter = ({ cause, count }: Pick<Refusal, 'cause' | 'count'>): DurationMs =>
  doubledWait(FIRST_WAIT, count, LONGEST_WAITS[cause]);

export const nextTry = (refusal: Refusal): EpochMs => addDuration(refusal.lastTime, waitAfter(refusal));

/** A refusal that passes within this time is not reported: the queue tries it again within seconds. */
export const TRANSIENT_FAILURE = minutes(5);

/** Whether it is likely to pass soon, and so is left to the queue, or to who waits for it. @param within it passes within this, or lasts */
export const isTransient = ({ cause, firstTime, lastTime }: Refusal, within = TRANSIENT_FAILURE): boolean =>
  cause === 'passing' && durationBetween(firstTime, lastTime) < within;

/**
 * Until when the change waits; undefined: it may be tried now.
 *
 * @param seen `basis`: what it rests on now; `deadline`: when it comes, it is tried once more at once
 */
export function retryNotBefore(
  refusal: Refusal | undefined,
  seen: { readonly basis: string; readonly now: EpochMs; readonly deadline?: EpochMs | undefined },
): EpochMs | undefined {
  if (refusal === undefined || refusal.basis !== seen.basis || isTransient(refusal)) return undefined;
  const time = earliest(nextTry(refusal), whileAhead(refusal.lastTime, seen.deadline));
  return isDue(seen.now, time) ? undefined : time;
}

/**
 * The memory after a try that was refused. What may pass within seconds says nothing about an earlier no: `before` stays as it is, and the
 * queue tries again.
 */
export function nextRefusal(
  before: Refusal | undefined,
  { cause, message, basis, now }: Pick<Refusal, 'cause' | 'message' | 'basis'> & { readonly now: EpochMs },
): Refusal {
  if (before !== undefined && before.cause !== 'passing' && cause === 'passing') {
    if (before.basis === basis && durationBetween(nextTry(before), now) < TRANSIENT_FAILURE) return before;
  }
  const goesOn = before?.cause === cause && before.basis === basis && !isOver(before, now);
  const isReported = before?.cause === cause && isSameCause(before.message, message);
  return {
    cause,
    message,
    basis,
    count: goesOn ? before.count + 1 : 1,
    firstTime: goesOn ? before.firstTime : now,
    lastTime: now,
    ...(isReported && before.saidTime !== undefined && { saidTime: before.saidTime }),
  };
}

/** Nobody tried for so long that it was not wanted, or was accepted meanwhile. */
const isOver = (refusal: Refusal, now: EpochMs): boolean =>
  durationBetween(nextTry(refusal), now) > waitAfter(refusal) + TRANSIENT_FAILURE;

/** Times, identifiers of requests and numbers in names (`web-2` after `web`) are no other cause. */
const isSameCause = (one: string, other: string): boolean => withoutNumbers(one) === withoutNumbers(other);

const withoutNumbers = (message: string): string => message.replaceAll(/-?\d+/g, '');

/** Once an hour, and at once where the cause is another one. @param isReportedAtOnce also what may pass */
const isRefusalReportDue = (refusal: Refusal, now: EpochMs, isReportedAtOnce = false): boolean =>
  (isReportedAtOnce || !isTransient(refusal)) && isReportDue(now, refusal.saidTime);

/**
 * The kind of a report: `news`, or `again` if it is still so; `elsewhere`: the same words were already reported about
 * another change.
 */
export type RefusalReport = 'news' | 'again' | 'elsewhere';

/**
 * The memory after a try of one of a subject's changes that was refused, and what is to be said of it; undefined: nothing. Whoever is given
 * something to say has said it by `saidTime`.
 *
 * @param how undefined: nothing is said of it. `isReportedAtOnce`: also what may pass
 */
export function noteRefusal(
  stored: Refusals | undefined,
  key: string,
  refused: Pick<Refusal, 'cause' | 'message' | 'basis'> & { readonly now: EpochMs },
  how?: { readonly isReportedAtOnce?: boolean | undefined },
): { readonly refusal: Refusal; readonly reportKind: RefusalReport | undefined } {
  const { now, message } = refused;
  const earlierRefusal = stored?.[key];
  const refusal = nextRefusal(earlierRefusal, refused);
  const isSilent =
    how === undefined || refusal === earlierRefusal || !isRefusalReportDue(refusal, now, how.isReportedAtOnce);
  if (isSilent) return { refusal, reportKind: undefined };
  const others = Object.entries(stored ?? {}).filter(([other, each]) => other !== key && each.message === message);
  const elsewhere = others.find(([, each]) => !isReportDue(now, each.saidTime))?.[1];
  if (elsewhere?.saidTime !== undefined)
    return { refusal: { ...refusal, saidTime: elsewhere.saidTime }, reportKind: 'elsewhere' };
  return { refusal: { ...refusal, saidTime: now }, reportKind: refusal.saidTime === undefined ? 'news' : 'again' };
}

const AGAIN: Readonly<Record<RefusalCause, string>> = {
  request: 'it is tried again ever less often, after one minute to one hour',
  permission: 'it is tried again every minute',
  passing: 'it is tried again every five minutes',
};

/** The text of the report: the same while the cause is the same, so that Kubernetes counts one Event up. */
export const textOfRefusal = ({ message, cause }: Pick<Refusal, 'message' | 'cause'>): string =>
  `${message}; ${AGAIN[cause]}`;

/** The permission that is missing; undefined: the change was refused for another reason. A record keeps the message alone, which names it. */
export const permissionOf = ({ cause, message }: Refusal): string | undefined =>
  cause === 'permission' ? (permissionIn(message) ?? message) : undefined;

/** The verb and kind that RBAC does not allow: `cannot patch resource "nodes" in API group ""`. */
export const permissionIn = (message: string): string | undefined =>
  /cannot \w+ resource "[^"]*" in API group "[^"]*"/.exec(message)?.[0];

/** The last report of a call that fails again and again. */
export interface FailureReport {
  readonly message: string;
  readonly time: EpochMs;
}

/** The report that counts after one more failure: the one before while it covers this failure, else a new one that is due now (I11). */
export function reportOfFailure(before: FailureReport | undefined, message: string, now: EpochMs): FailureReport {
  const isCovered = before !== undefined && isSameCause(before.message, message) && !isReportDue(now, before.time);
  return isCovered ? before : { message, time: now };
}
