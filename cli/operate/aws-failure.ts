/** Describes a failed call of an AWS client to an operator. */
import { awsErrorCode, MISSING_CODES } from '../../shared/adapters/aws-errors.ts';
import { messageOf } from '../../shared/errors.ts';

/** The message of AWS, or the reason why nothing of AWS has answered. */
export function describeAwsFailure(error: unknown): string {
  const code = error instanceof Error ? error.name : 'Error';
  const message = messageOf(error);
  if (message === 'Region is missing') return 'no Region is set: give --region, or set AWS_REGION';
  if (code === 'CredentialsProviderError') return 'no AWS credentials were found: set AWS_PROFILE, or log in';
  if (isAnswerOfOthers(error)) {
    const status = statusOf(error);
    return `what answered is not AWS${status === undefined ? '' : ` (HTTP ${status})`}: see AWS_ENDPOINT_URL, and any proxy between`;
  }
  return `${code}: ${message}`;
}

/** Whether AWS has answered that what the call names is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && [error.name, awsErrorCode(error) ?? ''].some(code => MISSING_CODES.has(code));
}

/** A page of a proxy, or of an emulator that lacks the operation: the SDK could not read it. */
export function isAnswerOfOthers(error: unknown): boolean {
  return error instanceof Error && '$response' in error && error.message.includes('Deserialization error');
}

function statusOf(error: unknown): number | undefined {
  const response = error instanceof Error && '$response' in error ? error.$response : undefined;
  if (typeof response !== 'object' || response === null || !('statusCode' in response)) return undefined;
  return typeof response.statusCode === 'number' ? response.statusCode : undefined;
}
