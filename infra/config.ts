/**
 * What a deployment may choose, from the CDK context key `curfew` (an object in `cdk.context.json`, or JSON text after `-c curfew=`).
 * Every key may be left out, so that a bare synth works offline; what only the user can know (the cluster) becomes a CloudFormation
 * parameter without a default, so that a deployment that does not give it is refused.
 */
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { z } from 'zod';
import { InvalidContext } from './context-file.ts';
import { NAME, RESERVED_NAME } from '../packages/curfew-cdk/src/name.ts';

export const CONTEXT_KEY = 'curfew';

/** After the deployment's name: the stack that outlives the other. */
export const STATE_STACK_SUFFIX = 'State';

const TOPIC_ARN = /^arn:[\w-]+:sns:([a-z0-9-]+):\d{12}:[\w.-]{1,256}$/;

const KEY_ARN = /^arn:[\w-]+:kms:([a-z0-9-]+):\d{12}:key\/[\w-]+$/;

const topicArn = z.string().regex(TOPIC_ARN, 'must be the ARN of an SNS topic');

const ec2Id = (prefix: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}-([0-9a-f]{8}|[0-9a-f]{17})$`), `must be an id such as ${prefix}-0123456789abcdef0`);

const CERTIFICATE = '-----BEGIN CERTIFICATE-----';
const isCertificate = (text: string): boolean => Buffer.from(text, 'base64').toString().startsWith(CERTIFICATE);

const clusterSchema = z.strictObject({
  name: z.string().regex(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/, 'must be the name of an EKS cluster'),
  /** As `aws eks describe-cluster` prints it. */
  endpoint: z.url({
    protocol: /^https$/,
    error: ({ input }) => (input === undefined ? 'is missing' : 'must be a URL that begins with https://'),
  }),
  /** The CA's PEM in base64, as `aws eks describe-cluster` prints it. Public, not a secret. */
  certificateAuthority: z
    .string()
    .refine(isCertificate, 'must be a certificate in base64, as `aws eks describe-cluster` prints it'),
});

/** For a cluster whose API endpoint is private: the functions run in its VPC. */
const privateAccessSchema = z
  .strictObject({
    vpcId: ec2Id('vpc'),
    /** At least two, in order with the subnets. */
    availabilityZones: z.array(z.string().min(1)).min(2),
    privateSubnetIds: z.array(ec2Id('subnet')).min(2),
    /** The security group that EKS made for the cluster; gets an ingress rule for port 443 from the functions. */
    clusterSecurityGroupId: ec2Id('sg'),
  })
  .check(
    ({
      value: {
        availabilityZones: { length: zones },
        privateSubnetIds,
      },
      issues,
    }) => {
      if (privateSubnetIds.length % zones === 0) return;
      const message = `must be as many in each of the ${zones} availabilityZones`;
      issues.push({ code: 'custom', path: ['privateSubnetIds'], message, input: privateSubnetIds });
    },
  );

/** Of IAM principals, as `aws:PrincipalArn` has them: of a role, not of its sessions. */
const principalArns = z
  .array(
    z
      .string()
      .regex(
        /^arn:[\w-]+:iam::\d{12}:(role|user)\/[\w+=,.@/*?-]+$/,
        'must be the ARN of an IAM role or user; * and ? may stand in its name',
      ),
  )
  .min(1);

/** The context key `curfew`. */
export const configSchema = z
  .strictObject({
    /** Prefix of the stacks' names; two clusters in one account need two. */
    name: z
      .string()
      .regex(NAME, 'must be a letter and up to 30 letters and digits')
      .refine(name => !name.endsWith(STATE_STACK_SUFFIX), {
        error: `must not end in ${STATE_STACK_SUFFIX}: the deployment without it has a stack of this name`,
      })
      .refine(name => name !== RESERVED_NAME, { error: `must not be ${RESERVED_NAME}: the bus is named after it` })
      .default('Curfew'),
    /** Account and region to deploy to; without it, those of the CLI's credentials. */
    env: z
      .strictObject({
        account: z.string().regex(/^\d{12}$/, 'must be the 12 digits of an account'),
        region: z.string().regex(/^[a-z]+(-[a-z]+)+-\d+$/, 'must be the code of a Region, such as eu-west-1'),
      })
      .optional(),
    cluster: clusterSchema.optional(),
    privateAccess: privateAccessSchema.optional(),
    /** Was a choice that no manifest followed: the forwarder got no credentials. */
    forwarder: z
      .undefined({ error: 'cannot be chosen: namespace and service account are those of deploy/, leave the key out' })
      .optional(),
    /** Days that audit lines are kept; one of the retentions that CloudWatch Logs offers (1, 3, 5, 7, 14, 30, 60, 90, …). */
    logRetentionDays: z.enum(RetentionDays).optional(),
    /** Names of the Lambda functions that hooks of terminations may call. */
    hookFunctions: z
      .array(z.string().regex(/^[A-Za-z0-9-_]{1,64}$/, 'must be the name of a Lambda function'))
      .optional(),
    /** Functions call the FIPS endpoints of AWS, which only some Regions have. */
    fipsEndpoints: z.boolean().optional(),
    /** A table that was restored, in place of that of the state stack, which stays. */
    recordsTable: z
      .string()
      .regex(/^[\w.-]{3,255}$/, 'must be the name of a table of DynamoDB')
      .optional(),
    /** KMS key for table, queues, log groups and variables; without it those of AWS are used. */
    encryptionKeyArn: z.string().regex(KEY_ARN, 'must be the ARN of a KMS key, not of an alias').optional(),
    /** Who, beside Curfew's own roles, may send to inboxes: operators who redrive dead letters or close entries of the ledger. */
    operatorPrincipals: principalArns.optional(),
    /** Who, beside Curfew's own roles, may put events on the bus; without it whoever has the permission. */
    drainPrincipals: principalArns.optional(),
    /** Under which `source` drains may be asked for on the bus; without it under any. */
    drainSources: z
      .array(z.string().regex(/^[\w./-]{1,256}$/, 'must be the source of events'))
      .min(1)
      .optional(),
    /** SNS topics that alarms notify, by how soon somebody must look; without one they only change state. */
    alarmTopics: z.strictObject({ page: topicArn.optional(), ticket: topicArn.optional() }).optional(),
    /** `Essential` leaves out the alarms that say earlier or more exactly what another one also says. */
    alarms: z.enum(['Full', 'Essential']).optional(),
    dashboard: z.boolean().optional(),
    /** From how many nodes that repairs or deadlines end within an hour somebody is paged. */
    terminationsPerHour: z.int().min(1).optional(),
    /** Where `docs/runbook.md` can be read, for the descriptions of alarms: they arrive by e-mail, so a relative path leads nowhere. */
    runbookUrl: z.url({ protocol: /^https?$/, error: 'must be an absolute URL' }).optional(),
  })
  // Topics and keys of another Region are refused in the middle of a deployment.
  .check(({ value: { env, alarmTopics = {}, encryptionKeyArn }, issues }) => {
    if (env === undefined) {
      if (encryptionKeyArn === undefined) return;
      const message = 'needs env: a table with a key of its own is made for one Region';
      issues.push({ code: 'custom', path: ['encryptionKeyArn'], message, input: encryptionKeyArn });
      return;
    }
    const regional = [
      ...Object.entries(alarmTopics).map(([urgency, arn]) => [['alarmTopics', urgency], TOPIC_ARN, arn] as const),
      [['encryptionKeyArn'], KEY_ARN, encryptionKeyArn] as const,
    ];
    for (const [path, pattern, arn] of regional) {
      if (arn === undefined || pattern.exec(arn)?.[1] === env.region) continue;
      const message = `must be of ${env.region}, which is deployed to`;
      issues.push({ code: 'custom', path: [...path], message, input: arn });
    }
  });
export type CurfewConfig = z.infer<typeof configSchema>;

/** Reads the context value. Throws `InvalidContext` with one line per key that is not valid. */
export function parseConfig(context: unknown): CurfewConfig {
  const result = configSchema.safeParse(typeof context === 'string' ? parseJson(context) : (context ?? {}));
  if (result.success) return result.data;
  const issues = result.error.issues
    .flatMap(faultsOf)
    .map(({ path, message }) => `  ${[CONTEXT_KEY, ...path].join('.')}: ${message}`);
  throw new InvalidContext(`the CDK context is not valid:\n${issues.join('\n')}`, { cause: result.error });
}

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** An unknown key stands at its own place. */
function faultsOf(issue: z.core.$ZodIssue): readonly Fault[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys')
    return [{ path, message: message.endsWith('received undefined') ? 'is missing' : message }];
  const known = path.length === 0 ? `; there are ${Object.keys(configSchema.shape).join(', ')}` : '';
  return issue.keys.map(key => ({ path: [...path, key], message: `unknown key${known}` }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidContext(`the CDK context is not valid:\n  ${CONTEXT_KEY}: must be JSON`, { cause: error });
  }
}
