import { describe, expect, it } from 'vitest';
import { awsErrorCode, fromAwsError } from '../../../shared/adapters/aws-errors.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { serviceError } from './fake-client.ts';

const attempt = { doing: 'writing record a', write: true };

describe('fromAwsError', () => {
  it.each([
    // Nothing was done: throttled, or not permitted, or the target is not there yet.
    { code: 'ThrottlingException', fault: 'client', outcomeUnknown: false },
    { code: 'ProvisionedThroughputExceededException', fault: 'client', outcomeUnknown: false },
    { code: 'AccessDeniedException', fault: 'client', outcomeUnknown: false },
    { code: 'UnauthorizedOperation', fault: 'client', outcomeUnknown: false },
    { code: 'ExpiredTokenException', fault: 'client', outcomeUnknown: false },
    // EC2's, Auto Scaling's and DynamoDB's words for credentials that are out of date, or an account that may not call.
    { code: 'RequestExpired', fault: 'client', outcomeUnknown: false },
    { code: 'SignatureDoesNotMatch', fault: 'client', outcomeUnknown: false },
    { code: 'MissingAuthenticationTokenException', fault: 'client', outcomeUnknown: false },
    { code: 'OptInRequired', fault: 'client', outcomeUnknown: false },
    { code: 'ResourceNotFoundException', fault: 'client', outcomeUnknown: false },
    // The key that encrypts a queue: both names that SQS has for each.
    { code: 'KmsThrottled', fault: 'client', outcomeUnknown: false },
    { code: 'KMS.AccessDeniedException', fault: 'client', outcomeUnknown: false },
    // It may have been done (I4).
    { code: 'InternalServerError', fault: 'server', outcomeUnknown: true },
  ] as const)('is retryable after $code', ({ code, fault, outcomeUnknown }) => {
    const error = fromAwsError(serviceError(code, fault), attempt);
    expect(error).toMatchObject({ name: 'RetryableError', reason: code, outcomeUnknown });
    expect(error.message).toBe(`writing record a: ${code}: because`);
  });

  it('does not know the outcome of a write that got no answer, and knows that of a read', () => {
    const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    expect(fromAwsError(lost, attempt)).toMatchObject({ reason: 'ECONNRESET', outcomeUnknown: true });
    expect(fromAwsError(lost, { ...attempt, write: false })).toMatchObject({ outcomeUnknown: false });
  });

  it('is terminal after a refusal of the request itself', () => {
    expect(fromAwsError(serviceError('ValidationException', 'client'), attempt)).toMatchObject({
      name: 'TerminalError',
      reason: 'ValidationException',
    });
  });

  it('is retryable after a 5xx that the SDK calls a fault of the client', () => {
    const error = Object.assign(serviceError('ServiceUnavailable', 'client'), { $metadata: { httpStatusCode: 503 } });
    expect(fromAwsError(error, attempt)).toMatchObject({ name: 'RetryableError', outcomeUnknown: true });
  });

  // A load balancer in front of a service answers 503 without a body: the SDK knows no code then.
  it('names the status of a 5xx that names nothing', () => {
    const error = Object.assign(serviceError('Unknown', 'server'), { $metadata: { httpStatusCode: 503 } });
    expect(fromAwsError(error, attempt)).toMatchObject({ reason: 'Status503', outcomeUnknown: true });
  });

  it('leaves what is translated already', () => {
    for (const error of [new RetryableError('a'), new TerminalError('B', 'b')]) {
      expect(fromAwsError(error, attempt)).toBe(error);
    }
  });

  it('takes whatever was thrown', () => {
    for (const thrown of ['text', undefined, { code: 'X' }]) {
      expect(fromAwsError(thrown, attempt)).toMatchObject({ name: 'RetryableError', outcomeUnknown: true });
    }
  });
});

describe('awsErrorCode', () => {
  it('reads the code of EC2, of the network and of the other services', () => {
    expect(awsErrorCode(Object.assign(new Error(), { Code: 'InvalidInstanceID.NotFound' }))).toBe(
      'InvalidInstanceID.NotFound',
    );
    expect(awsErrorCode(Object.assign(new Error(), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
    expect(awsErrorCode(serviceError('QueueDoesNotExist', 'client'))).toBe('QueueDoesNotExist');
    expect(awsErrorCode('text')).toBeUndefined();
  });
});
