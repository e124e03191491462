/**
 * Whether the policy of a queue lets EventBridge send to it for a rule: without one, events of the rule are lost on AWS. Statements in exactly
 * the forms that CDK writes; another form is refused when the template is read. EventBridge sends by TLS, so what denies plain HTTP is not for it.
 */
import { z } from 'zod';
import type { AwsModel, QueuePolicyModel, RuleModel } from '../model.ts';
import { isAllowed, isLike } from './evaluate.ts';
import { oneOrMore } from './statements.ts';

const sources = z.strictObject({ 'aws:SourceArn': oneOrMore(z.string()) });
const deny = { Effect: z.literal('Deny'), Sid: z.string().optional(), Resource: z.string() };
const statementSchema = z.union([
  z.strictObject({
    ...deny,
    Action: z.literal('sqs:*'),
    Principal: z.strictObject({ AWS: z.literal('*') }),
    Condition: z.strictObject({ Bool: z.strictObject({ 'aws:SecureTransport': z.literal('false') }) }),
  }),
  // To all principals of the account but these.
  z.strictObject({
    ...deny,
    Action: z.literal('sqs:SendMessage'),
    Principal: z.strictObject({ AWS: z.literal('*') }),
    Condition: z.strictObject({
      ArnNotLike: z.strictObject({ 'aws:PrincipalArn': oneOrMore(z.string()) }),
      Bool: z.strictObject({ 'aws:PrincipalIsAWSService': z.literal('false') }),
    }),
  }),
  z.strictObject({
    Effect: z.literal('Allow'),
    Sid: z.string().optional(),
    Action: oneOrMore(z.string()),
    Principal: z.strictObject({ Service: oneOrMore(z.string()) }),
    Resource: oneOrMore(z.string()),
    // ArnEquals and ArnLike are the same: both take `*` and `?`.
    Condition: z.strictObject({ ArnEquals: sources.optional(), ArnLike: sources.optional() }).default({}),
  }),
]);

export const queuePolicySchema = z
  .object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }), Queues: z.array(z.string()) })
  .transform(({ PolicyDocument, Queues }): QueuePolicyModel => ({
    queueUrls: Queues,
    statements: PolicyDocument.Statement.flatMap(statement => {
      if (statement.Effect === 'Deny' || !statement.Principal.Service.includes('events.amazonaws.com')) return [];
      const { Action, Resource, Condition } = statement;
      const { ArnEquals = {}, ArnLike = {} } = Condition;
      return [{ Effect: 'Allow' as const, Action, Resource, Condition: { StringLike: { ...ArnEquals, ...ArnLike } } }];
    }),
    senders: PolicyDocument.Statement.flatMap(statement =>
      'ArnNotLike' in statement.Condition ? [statement.Condition.ArnNotLike['aws:PrincipalArn']] : [],
    )[0],
  }));

/** Whether events of a rule reach a queue. */
export type MayDeliver = (rule: Pick<RuleModel, 'arn'>, queueName: string) => boolean;

/** Whether a role may send to a queue as far as the queue's own policy goes. */
export function isSender(
  roleArn: string,
  queueArn: string,
  { queues, queuePolicies }: Pick<AwsModel, 'queues' | 'queuePolicies'>,
): boolean {
  const url = queues.find(({ arn }) => arn === queueArn)?.url;
  return queuePolicies
    .filter(({ queueUrls }) => url !== undefined && queueUrls.includes(url))
    .every(({ senders }) => senders?.some(pattern => isLike(roleArn, pattern)) ?? true);
}

/** A queue that is not in the template gets nothing. */
export function createQueuePolicies({ queues, queuePolicies }: Pick<AwsModel, 'queues' | 'queuePolicies'>): MayDeliver {
  return ({ arn }, queueName) => {
    const queue = queues.find(({ name }) => name === queueName);
    if (queue === undefined) return false;
    const request = { action: 'sqs:SendMessage', resource: queue.arn, context: { 'aws:SourceArn': [arn] } };
    return queuePolicies.some(
      ({ queueUrls, statements }) => queueUrls.includes(queue.url) && isAllowed(statements, request),
    );
  };
}
