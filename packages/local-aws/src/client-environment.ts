/** How a process reaches the local endpoints by the unchanged SDK: its environment variables. */
import { LOOPBACK } from './loopback.ts';
import type { Credentials } from './iam/access.ts';

export interface Endpoints {
  readonly dynamoDb: string;
  readonly sqs: string;
  readonly eventBridge: string;
  /** Of EC2 and Auto Scaling. */
  readonly ec2: string;
  readonly lambda: string;
}

/** A key that no role has. */
export const NOBODY: Credentials = { accessKeyId: 'nobody', secretAccessKey: 'nobody' };
/** Whatever has no local stand-in is refused here, and never reaches AWS. */
const NOWHERE = `http://${LOOPBACK}:9`;

/** Region, credentials and `AWS_ENDPOINT_URL_*`, that of every other service included. */
export function clientEnvironment(
  region: string,
  endpoints: Endpoints,
  credentials: Credentials,
): Readonly<Record<string, string>> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL: NOWHERE,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamoDb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventBridge,
    AWS_ENDPOINT_URL_EC2: endpoints.ec2,
    AWS_ENDPOINT_URL_AUTO_SCALING: endpoints.ec2,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
  };
}
