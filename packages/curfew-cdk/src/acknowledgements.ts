/**
 * Findings of cdk-nag that are by design, each named by its rule and its resource with the reason. A test fails on any finding that is not here, and
 * none is acknowledged for a whole stack, so that a new resource is judged for itself.
 */
import { Stack, Token, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { FunctionName } from '../../../shared/contract/names.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';

export function acknowledgeDeadLetters(queues: Iterable<IConstruct>): void {
  for (const queue of queues) {
    const reason =
      'This is a dead-letter queue, of an inbox that may be in another stack, where the rule does not look.';
    acknowledge(queue, 'AwsSolutions::AwsSolutions-SQS3', reason);
    acknowledge(queue, 'Serverless::Serverless-SQSRedrivePolicy', reason);
  }
}

export interface Acknowledged {
  readonly functions: readonly {
    readonly functionName: FunctionName;
    readonly function: IConstruct;
    readonly role: IConstruct;
  }[];
  readonly isInVpc: boolean;
  readonly heartbeat: { readonly queue: IConstruct; readonly rule: IConstruct };
}

export function acknowledgeFindings({ functions, isInVpc, heartbeat: { queue, rule } }: Acknowledged): void {
  const stack = Stack.of(queue);
  for (const { functionName, function: fn, role } of functions) {
    const bySqs =
      'Invoked by its SQS inbox alone, whose own redrive policy keeps what fails; this setting is for asynchronous invokes and streams.';
    acknowledge(fn, 'Serverless::Serverless-LambdaDLQ', bySqs);
    acknowledge(fn, 'Serverless::Serverless-LambdaEventSourceMappingDestination', bySqs);
    acknowledge(
      fn,
      'Serverless::Serverless-LambdaTracing',
      'X-Ray needs permissions on *; audit lines carry the ids that join a story.',
    );
    if (PERMISSIONS[functionName].ec2.length > 0) {
      acknowledge(
        role,
        'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
        'EC2 cannot limit DescribeInstances and DescribeInstanceStatus to some instances.',
      );
      acknowledge(
        role,
        `AwsSolutions::AwsSolutions-IAM5[Resource::${arnIn(stack, 'ec2', 'instance/*')}]`,
        'Instances are not known beforehand; a condition limits the statement to those tagged with the cluster.',
      );
      acknowledge(
        role,
        `AwsSolutions::AwsSolutions-IAM5[Resource::${arnIn(stack, 'autoscaling', 'autoScalingGroup:*:autoScalingGroupName/*')}]`,
        'Groups are not known beforehand; a condition limits the statement to those tagged with the cluster.',
      );
    }
    if (isInVpc) {
      acknowledge(
        role,
        'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
        'EC2 has no narrower resource for the network interfaces of a function.',
      );
    }
  }
  const forgets =
    'Nobody reads this queue: it only lets CloudWatch count the deliveries of a rule, so there is nothing to keep.';
  acknowledge(queue, 'AwsSolutions::AwsSolutions-SQS3', forgets);
  acknowledge(queue, 'Serverless::Serverless-SQSRedrivePolicy', forgets);
  acknowledge(rule, 'Serverless::Serverless-EventBusDLQ', forgets);
}

function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({ id, reason });
}

/** An ARN as findings spell it: what only the deployment knows stands in angle brackets, and nothing does where `env` is configured. */
function arnIn({ partition, region, account }: Stack, service: string, resource: string): string {
  const spelt = (value: string, pseudo: string): string => (Token.isUnresolved(value) ? `<${pseudo}>` : value);
  const place = [spelt(region, 'AWS::Region'), spelt(account, 'AWS::AccountId')];
  return ['arn', spelt(partition, 'AWS::Partition'), service, ...place, resource].join(':');
}
