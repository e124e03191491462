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

  constructor(
    message: string,
    options: {
      cause?: unknown;
      retryAfterMs?: number;
      outcomeUnknown?: boolean;
      reason?: string;
      isForbidden?: boolean;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'RetryableError';
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.isForbidden = options.isForbidden ?? false;
  }
}

/**
 * Trying again cannot help: not a valid message, an unknown version, a request that the API server finds not valid. (Missing permissions
 * are retryable.) The message is parked in the DLQ with its reason (I9).
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

/** Asserts what only a programming error can break; `statement` names the invariant. */
export function invariant(condition: boolean, statement: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${statement}`);
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
