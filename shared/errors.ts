/**
 * The three kinds of failure. Expected outcomes (not found, lost race, a budget says no) are values, not errors.
 * Anything thrown that is neither class below is a bug: the record is redelivered and an alarm rings.
 */

/** Worth trying again: throttling, 5xx, time-out, lost connection. The message goes back to the queue. */
export class RetryableError extends Error {
  /** Milliseconds to wait before the next try, when the other side said so. */
  readonly retryAfterMs: number | undefined;
  /** True when the call may have taken effect although no answer came: look, never repeat (I4). */
  readonly outcomeUnknown: boolean;
  /** One CamelCase word for logs and metrics (`Forbidden`, `TooManyRequests`, `Timeout`, …), when the other side gave one. */
  readonly reason: string | undefined;
  /** AWS does not allow the action: no other call of it is allowed either. */
  readonly isForbidden: boolean;
  /** The verb and kind that RBAC does not allow, whatever the object; undefined: that is not why the API server said no. */
  readonly permission: string | undefined;
  /** The API server refuses the very request, which only reads: another try within seconds is refused, too. */
  readonly isReadRefused: boolean;

  constructor(
    message: string,
    options: {
      cause?: unknown;
      retryAfterMs?: number;
      outcomeUnknown?: boolean;
      reason?: string;
      isForbidden?: boolean;
      permission?: string | undefined;
      isReadRefused?: boolean;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'RetryableError';
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.isForbidden = options.isForbidden ?? false;
    this.permission = options.permission;
    this.isReadRefused = options.isReadRefused ?? false;
  }
}

/** Reason of a `RetryableError`: others wrote first. */
export const CONTENDED = 'Contended';

/** The error of a lost race, with what was lost as its message: another try may succeed at once. */
export const contendedError = (message: string): RetryableError => new RetryableError(message, { reason: CONTENDED });

/** Reason of a `RetryableError`, and code of what it is made of: the run has no time left for a call. It says nothing of the call. */
export const OUT_OF_TIME = 'DeadlineReserve';

/**
 * Trying again cannot help: not a valid message, an unknown version, a change that the API server finds not valid. (Missing permissions
 * and reads are retryable.) The message is parked in the DLQ with its reason (I9).
 */
export class TerminalError extends Error {
  /** One CamelCase word, a message attribute in the DLQ. */
  readonly reason: string;

  constructor(reason: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'TerminalError';
    this.reason = reason;
  }
}

/**
 * One error for all that failed, whose message tells of each. A bug comes first, for only that rings; then what may pass, for only that is
 * tried again. What has a class of its own, such as a kind that is not served, keeps it where all of them have it.
 *
 * @returns undefined where nothing failed
 */
export function joinFailures(failures: readonly unknown[]): unknown {
  const [first] = failures;
  if (failures.length < 2 || failures.every(each => isOwnClass(each) && each.constructor === classOf(first)))
    return first;
  const text = `${failures.length} failures: ${[...new Set(failures.map(messageOf))].join('; ')}`;
  const retryable = failures.filter(each => each instanceof RetryableError);
  const terminal = failures.find(each => each instanceof TerminalError);
  const bug = failures.find(each => !(each instanceof RetryableError || each instanceof TerminalError));
  const [passing] = retryable;
  if (bug !== undefined) return new Error(text, { cause: bug });
  if (passing === undefined) return new TerminalError(terminal?.reason ?? 'Refused', text, { cause: terminal });
  const { reason, retryAfterMs, isForbidden } = passing;
  return new RetryableError(text, {
    cause: passing,
    outcomeUnknown: retryable.some(each => each.outcomeUnknown),
    isForbidden,
    isReadRefused: retryable.every(each => each.isReadRefused),
    permission: retryable.find(each => each.permission !== undefined)?.permission,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const classOf = (error: unknown): unknown => (error instanceof Error ? error.constructor : undefined);
const isOwnClass = (error: unknown): error is RetryableError =>
  error instanceof RetryableError && error.constructor !== RetryableError;

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
