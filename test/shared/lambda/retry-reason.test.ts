import { describe, expect, it } from 'vitest';
import { ACCESS_REASONS } from '../../../shared/contract/metrics.ts';
import { retryReason } from '../../../shared/lambda/retry-reason.ts';

describe('retryReason', () => {
  it.each([
    ['Unauthorized', 'Unauthorized'],
    ['Forbidden', 'Forbidden'],
    ['AccessDeniedException', 'AccessDenied'],
    ['QueueDoesNotExist', 'NotFound'],
    ['ECONNREFUSED', 'Unreachable'],
    ['ConnectTimeout', 'Unreachable'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'Unreachable'],
    ['Status502', 'ServerError'],
    ['Status302', 'ServerError'],
    ['ServiceUnavailable', 'ServerError'],
    // SQS and Auto Scaling, EventBridge, Lambda, EC2.
    ['InternalFailure', 'ServerError'],
    ['InternalException', 'ServerError'],
    ['ServiceException', 'ServerError'],
    ['Unavailable', 'ServerError'],
    ['RequestExpired', 'AccessDenied'],
    ['RequestThrottled', 'Throttled'],
    ['TooManyRequestsException', 'Throttled'],
    ['LimitExceededException', 'Throttled'],
    // Somebody else is at work on the same thing.
    ['ScalingActivityInProgress', 'Conflict'],
    ['TransactionConflictException', 'Conflict'],
    ['TooManyRequests', 'Throttled'],
    ['Conflict', 'Conflict'],
    ['DeadlineReserve', 'DeadlineReserve'],
    ['SomethingElse', 'Other'],
    ['constructor', 'Other'],
    [undefined, 'Other'],
  ])('%s counts as %s', (word, reason) => {
    expect(retryReason(word)).toBe(reason);
  });

  it('lets throttling and lost races pass without an alarm', () => {
    const quiet = ['TooManyRequests', 'Conflict', 'DeadlineReserve'].map(retryReason);
    expect(quiet.filter(reason => ACCESS_REASONS.has(reason))).toEqual([]);
  });
});
