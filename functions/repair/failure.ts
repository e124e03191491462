/** What a pass throws where several things failed: one error that tells of all, so that each reaches the log. Pure. */
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';

/** A mistake of ours before what may pass, for only that rings; what may pass before what cannot, for only that is tried again. */
export function joinedFailure(failures: readonly unknown[]): unknown {
  const retryable = failures.filter(each => each instanceof RetryableError);
  const terminal = failures.filter(each => each instanceof TerminalError);
  const mistake = failures.find(each => !(each instanceof RetryableError || each instanceof TerminalError));
  const [passing] = retryable;
  const [refused] = terminal;
  const first = mistake ?? passing ?? refused;
  if (failures.length < 2) return first;
  const text = `${failures.length} failures: ${failures.map(messageOf).join('; ')}`;
  if (mistake !== undefined) return new Error(text, { cause: mistake });
  if (passing === undefined) return new TerminalError(refused?.reason ?? 'Refused', text, { cause: refused });
  const { reason, retryAfterMs, isForbidden } = passing;
  return new RetryableError(text, {
    cause: passing,
    outcomeUnknown: retryable.some(each => each.outcomeUnknown),
    isForbidden,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
