/**
 * The meaning of each failure of an AWS client, for all services. The SDK has retried throttling and connection errors
 * a few times before these are seen. A code that an adapter expects is handled there, before this table is asked.
 */
import { seconds } from '../domain/time.ts';
import { cutText } from '../domain/cut-text.ts';
import { messageOf, RetryableError, TerminalError } from '../errors.ts';

/** Limits for every AWS client: an invocation has seconds, and a retry by redelivery comes anyway. */
export const CLIENT_DEFAULTS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
} as const;

/** Time that the call of a function may take, connecting included, before it is repeated with the same key. */
export const INVOKE_TIMEOUT = seconds(15);

/**
 * Missing permission, as for 403 of the API server: roles and policies become consistent or are repaired while the message waits,
 * and parking it would lose it (I9).
 */
export const ACCESS_CODES: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'UnauthorizedOperation',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'ExpiredToken',
  'ExpiredTokenException',
  'AuthFailure',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'NotAuthorized',
  'OptInRequired',
  // So EC2 says that credentials have expired.
  'RequestExpired',
  'SignatureDoesNotMatch',
]);

/** The table, queue or bus is not (yet) there: a deployment in progress, or a name that must be corrected. */
export const MISSING_CODES: ReadonlySet<string> = new Set([
  'ResourceNotFoundException',
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
]);

/** Throttling, where a service reports it as a plain client error. */
export const THROTTLING_CODES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'TooManyRequestsException',
  'LimitExceededException',
]);

/** Somebody else is at work on the same thing; the same request may do later. */
export const BUSY_CODES: ReadonlySet<string> = new Set([
  'TransactionConflictException',
  // Auto Scaling is at work on the group.
  'ScalingActivityInProgress',
]);

const PASSING_CODES: readonly ReadonlySet<string>[] = [MISSING_CODES, THROTTLING_CODES, BUSY_CODES];

/** The error code of an AWS client, or of the connection below it. */
export function awsErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('Code' in error && typeof error.Code === 'string') return error.Code;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/**
 * Translates what `doing` (gerund and object) met. A write that got no answer or a 5xx may have taken effect.
 */
export function fromAwsError(error: unknown, attempt: { doing: string; write: boolean }): Error {
  if (error instanceof RetryableError || error instanceof TerminalError) return error;
  const code = codeOrStatus(error);
  const message = `${attempt.doing}: ${code}: ${cutText(messageOf(error))}`;
  const notDone = { cause: error, reason: code };
  if (ACCESS_CODES.has(code)) return new RetryableError(message, { ...notDone, isForbidden: true });
  // The key that encrypts a queue is throttled, disabled or not allowed: no fault of the request.
  if (/^kms/i.test(code) || PASSING_CODES.some(codes => codes.has(code))) return new RetryableError(message, notDone);
  // A client error without any of the above: the request itself is wrong and stays wrong.
  if (error instanceof Error && isClientFault(error)) return new TerminalError(code, message, { cause: error });
  return new RetryableError(message, { ...notDone, outcomeUnknown: attempt.write });
}

/** `Status503` of an answer that names no error: what stands in front of a service sends such. */
function codeOrStatus(error: unknown): string {
  const code = awsErrorCode(error) ?? 'Unknown';
  const status = statusOf(error);
  return code === 'Unknown' && status !== undefined ? `Status${status}` : code;
}

/** The SDK calls errors that a service does not model a client's fault, also where the status says otherwise. */
function isClientFault(error: Error): boolean {
  return '$fault' in error && error.$fault === 'client' && (statusOf(error) ?? 400) < 500;
}

function statusOf(error: unknown): number | undefined {
  const metadata: unknown = error instanceof Error && '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}
