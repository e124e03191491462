/** How a process reaches the local endpoints by the unchanged SDK: its environment variables. */
import { devNull } from 'node:os';
import { LOOPBACK } from './loopback.ts';
import type { Credentials } from './iam/access.ts';

export interface Endpoints {
  readonly dynamoDb: string;
  readonly sqs: string;
  readonly eventBridge: string;
  /** Of EC2 and Auto Scaling. */
  readonly ec2: string;
  readonly lambda: string;
  readonly logs: string;
  readonly cloudFormation: string;
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
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: endpoints.logs,
    AWS_ENDPOINT_URL_CLOUDFORMATION: endpoints.cloudFormation,
    // There is one local endpoint of each service, and the SDK refuses these beside it. In files of the user they may be on, too.
    AWS_USE_FIPS_ENDPOINT: 'false',
    AWS_USE_DUALSTACK_ENDPOINT: 'false',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}

const PREFIX = 'AWS_ENDPOINT_URL_';

/** The same as a file for `AWS_CONFIG_FILE`, for a shell where no other credentials are set. */
export function clientConfigFile(env: Readonly<Record<string, string>>): string {
  const services = Object.entries(env)
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, url]) => `${name.slice(PREFIX.length).toLowerCase()} =\n  endpoint_url = ${url}`);
  return [
    '[default]',
    `region = ${env['AWS_REGION'] ?? ''}`,
    `aws_access_key_id = ${env['AWS_ACCESS_KEY_ID'] ?? ''}`,
    `aws_secret_access_key = ${env['AWS_SECRET_ACCESS_KEY'] ?? ''}`,
    `endpoint_url = ${env['AWS_ENDPOINT_URL'] ?? ''}`,
    'services = local',
    '[services local]',
    ...services,
    '',
  ].join('\n');
}
