/** A refusal as each protocol answers it: code, status, and the words of the service. */
import type { Refusal } from './access.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const UNSIGNED = 'Missing Authentication Token';
const UNKNOWN_KEY = 'The security token included in the request is invalid.';

/** DynamoDB and EventBridge: status 400, the code in `__type`. */
export function toJsonError(refusal: Refusal): ErrorAnswer {
  switch (refusal.kind) {
    case 'unsigned':
      return { status: 400, code: 'MissingAuthenticationTokenException', message: UNSIGNED };
    case 'unknownKey':
      return { status: 400, code: 'UnrecognizedClientException', message: UNKNOWN_KEY };
    case 'denied':
      return { status: 400, code: 'AccessDeniedException', message: refusal.message };
  }
}

/** SQS: status 403; clients read the code in the header `x-amzn-query-error`. */
export function toSqsError(refusal: Refusal): ErrorAnswer {
  switch (refusal.kind) {
    case 'unsigned':
      return { status: 403, code: 'MissingAuthenticationToken', message: UNSIGNED };
    case 'unknownKey':
      return { status: 403, code: 'InvalidClientTokenId', message: UNKNOWN_KEY };
    case 'denied':
      return { status: 403, code: 'AccessDenied', message: refusal.message };
  }
}

/** EC2 and Auto Scaling, each in its own words. */
export function toQueryError(refusal: Refusal, service: 'ec2' | 'autoscaling'): ErrorAnswer {
  const isEc2 = service === 'ec2';
  switch (refusal.kind) {
    case 'unsigned':
      return isEc2
        ? { status: 400, code: 'MissingParameter', message: 'The request must contain the parameter AWSAccessKeyId' }
        : { status: 403, code: 'MissingAuthenticationToken', message: UNSIGNED };
    case 'unknownKey':
      return isEc2
        ? { status: 401, code: 'AuthFailure', message: 'AWS was not able to validate the provided access credentials' }
        : { status: 403, code: 'InvalidClientTokenId', message: UNKNOWN_KEY };
    case 'denied':
      return isEc2
        ? {
            status: 403,
            code: 'UnauthorizedOperation',
            message: `You are not authorized to perform this operation. ${refusal.message}`,
          }
        : { status: 403, code: 'AccessDenied', message: refusal.message };
  }
}

/** Lambda: REST, the code in the header `x-amzn-errortype`. */
export function toRestError(refusal: Refusal): ErrorAnswer {
  switch (refusal.kind) {
    case 'unsigned':
      return { status: 403, code: 'MissingAuthenticationTokenException', message: UNSIGNED };
    case 'unknownKey':
      return { status: 403, code: 'UnrecognizedClientException', message: UNKNOWN_KEY };
    case 'denied':
      return { status: 403, code: 'AccessDeniedException', message: refusal.message };
  }
}
