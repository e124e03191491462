/** The names, ARNs and URLs that resources would get from AWS, made up the same way at each start. */
import type { ResourceIdentity, StackTemplate, TemplateResource } from './intrinsics.ts';

export interface IdentityOptions {
  readonly region: string;
  readonly account: string;
  /** Base of queue URLs, e.g. `http://127.0.0.1:4566`. */
  readonly sqsEndpoint: string;
  /** A property of a resource without its intrinsics. */
  readonly resolve: (stack: StackTemplate, value: unknown) => unknown;
}

/** SQS allows 80 characters, functions 64; the end of a logical id is its distinctive hash. */
const MAX_NAME_LENGTH = 64;

export function createIdentities({ region, account, sqsEndpoint, resolve }: IdentityOptions) {
  const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${account}:${resource}`;
  return (stack: StackTemplate, logicalId: string, { Type, Properties = {} }: TemplateResource): ResourceIdentity => {
    const named = (property: string): string => {
      const given = Properties[property];
      return typeof given === 'string'
        ? given
        : `${stack.stackName}-${logicalId}`.slice(-MAX_NAME_LENGTH).replace(/^-/, '');
    };
    switch (Type) {
      case 'AWS::SQS::Queue': {
        const name = named('QueueName');
        const url = `${sqsEndpoint}/${account}/${name}`;
        return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
      }
      case 'AWS::DynamoDB::Table':
      case 'AWS::DynamoDB::GlobalTable': {
        const name = named('TableName');
        return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`), TableId: name } };
      }
      case 'AWS::Events::EventBus': {
        const name = named('Name');
        return { ref: name, attributes: { Arn: arn('events', `event-bus/${name}`), Name: name } };
      }
      case 'AWS::Events::Rule': {
        const name = named('Name');
        const bus = resolve(stack, Properties['EventBusName'] ?? 'default');
        if (bus === 'default') return { ref: name, attributes: { Arn: arn('events', `rule/${name}`) } };
        return { ref: `${String(bus)}|${name}`, attributes: { Arn: arn('events', `rule/${String(bus)}/${name}`) } };
      }
      case 'AWS::Lambda::Function': {
        const name = named('FunctionName');
        return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } };
      }
      case 'AWS::IAM::Role': {
        const name = named('RoleName');
        return { ref: name, attributes: { Arn: `arn:aws:iam::${account}:role/${name}`, RoleId: name } };
      }
      case 'AWS::Logs::LogGroup': {
        const name = named('LogGroupName');
        return { ref: name, attributes: { Arn: arn('logs', `log-group:${name}:*`) } };
      }
      default: {
        const name = `${stack.stackName}-${logicalId}`;
        return { ref: name, attributes: { Arn: arn('local', name) } };
      }
    }
  };
}
