/** Names the reason why a message is tried again, as one of the few values that a metric may have. Pure. */
import { ACCESS_CODES, BUSY_CODES, MISSING_CODES, THROTTLING_CODES } from '../adapters/aws-errors.ts';
import type { RetryReason } from '../contract/metrics.ts';

/** Words of the API server, of AWS services and of Node's network code; `Status<code>` and the rest of TLS are matched below. */
const WORDS: readonly (readonly [RetryReason, readonly string[]])[] = [
  ['Unauthorized', ['Unauthorized']],
  ['Forbidden', ['Forbidden']],
  ['AccessDenied', [...ACCESS_CODES]],
  ['NotFound', [...MISSING_CODES]],
  [
    'Unreachable',
    [
      'EAI_AGAIN',
      'ECONNABORTED',
      'ECONNREFUSED',
      'ECONNRESET',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'ENOTFOUND',
      'EPIPE',
      'ETIMEDOUT',
      'ConnectTimeout',
      'RequestTimeout',
      'TimeoutError',
    ],
  ],
  [
    'ServerError',
    [
      'InternalError',
      'InternalException',
      'InternalFailure',
      'InternalServerError',
      'ServerTimeout',
      'ServiceException',
      'ServiceUnavailable',
      'Timeout',
      'Unavailable',
    ],
  ],
  ['Throttled', ['TooManyRequests', ...THROTTLING_CODES]],
  ['Conflict', ['Conflict', 'Expired', 'ConditionalCheckFailedException', ...BUSY_CODES]],
  ['DeadlineReserve', ['DeadlineReserve']],
];
const REASONS: ReadonlyMap<string, RetryReason> = new Map(
  WORDS.flatMap(([reason, words]) => words.map((word): [string, RetryReason] => [word, reason])),
);

/**
 * The codes of Node for a certificate that it does not trust: `CERT_HAS_EXPIRED`, `DEPTH_ZERO_SELF_SIGNED_CERT`,
 * `ERR_TLS_…`, …
 */
const UNTRUSTED = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;

/** @param word `reason` of a `RetryableError` */
export function retryReason(word: string | undefined): RetryReason {
  if (word === undefined) return 'Other';
  const known = REASONS.get(word);
  if (known !== undefined) return known;
  if (UNTRUSTED.test(word)) return 'Unreachable';
  // 3xx: a proxy stands in for the API server.
  return /^Status[35]\d\d$/.test(word) ? 'ServerError' : 'Other';
}
