/**
 * Who may speak to Curfew inside of the account: everybody may whom a policy of theirs lets call SQS or EventBridge, unless a resource denies it. So
 * each inbox denies all but the roles that send to it, and the bus, where the deployment says who else asks for drains, all but those.
 */
import { Effect, PolicyStatement, AnyPrincipal, type Role } from 'aws-cdk-lib/aws-iam';
import { CfnEventBusPolicy, type EventBus } from 'aws-cdk-lib/aws-events';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/**
 * A condition that meets all but these. What services of AWS do for a rule of ours is let in by its source; they are no principals of the account.
 */
const allBut = (arns: readonly string[]) => ({
  ArnNotLike: { 'aws:PrincipalArn': arns },
  Bool: { 'aws:PrincipalIsAWSService': 'false' },
});

/**
 * Denies the inbox to all but these.
 *
 * @param operators patterns of those who run `curfew redrive` and `curfew orphans --forget`
 */
export function closeInbox(inbox: Queue, senders: readonly Role[], operators: readonly string[]): void {
  inbox.addToResourcePolicy(
    new PolicyStatement({
      sid: 'OnlyCurfew',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['sqs:SendMessage'],
      resources: [inbox.queueArn],
      conditions: allBut([...senders.map(({ roleArn }) => roleArn), ...operators]),
    }),
  );
}

/**
 * Denies the bus to all but these.
 *
 * @param others patterns of the monitors that ask for drains, and of workers that answer hooks
 */
export function closeBus(
  scope: Construct,
  bus: EventBus,
  { publishers, others }: { readonly publishers: readonly Role[]; readonly others: readonly string[] },
): void {
  new CfnEventBusPolicy(scope, 'BusPolicy', {
    eventBusName: bus.eventBusName,
    statementId: 'OnlyCurfew',
    statement: {
      Effect: 'Deny',
      Principal: '*',
      Action: 'events:PutEvents',
      Resource: bus.eventBusArn,
      Condition: allBut([...publishers.map(({ roleArn }) => roleArn), ...others]),
    },
  });
}
