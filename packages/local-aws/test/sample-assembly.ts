/**
 * A small cloud assembly as CDK writes it: two stacks that refer to each other, a bus, a rule, an inbox with dead letters, a table, a schedule, and one
 * function whose bundle esbuild makes here.
 */
import { buildSync } from 'esbuild';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SampleAssembly extends Disposable {
  readonly dir: string;
}

export interface SampleOptions {
  /** TypeScript of the handler module. */
  readonly handler: string;
  /** More variables of the function. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
  readonly visibilityTimeout?: number;
  readonly maxReceiveCount?: number;
  readonly maxConcurrency?: number;
  readonly scheduleExpression?: string;
  /** Resources that are added to, or stand in for, those of the functions stack. */
  readonly resources?: Readonly<Record<string, unknown>>;
}

const fromState = (OutputName: string) => ({ 'Fn::GetStackOutput': { StackName: 'SampleState', OutputName } });

export function writeSampleAssembly(options: SampleOptions): SampleAssembly {
  const dir = mkdtempSync(join(tmpdir(), 'curfew-sample-'));
  mkdirSync(join(dir, 'asset.abc'));
  buildSync({
    stdin: { contents: options.handler, loader: 'ts', resolveDir: import.meta.dirname },
    outfile: join(dir, 'asset.abc/index.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  const write = (name: string, content: unknown) => writeFileSync(join(dir, name), JSON.stringify(content));
  write('manifest.json', {
    version: '55.0.0',
    artifacts: {
      Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
      'Functions.assets': { type: 'cdk:asset-manifest', properties: { file: 'Functions.assets.json' } },
      State: {
        type: 'aws:cloudformation:stack',
        properties: { templateFile: 'State.template.json', stackName: 'SampleState' },
      },
      Functions: {
        type: 'aws:cloudformation:stack',
        properties: { templateFile: 'Functions.template.json', stackName: 'Sample' },
      },
    },
  });
  write('Functions.assets.json', {
    files: {
      abc: { source: { path: 'asset.abc', packaging: 'zip' }, destinations: { here: { objectKey: 'abc.zip' } } },
    },
  });
  write('State.template.json', stateTemplate);
  write('Functions.template.json', functionsTemplate(options));
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

const stateTemplate = {
  Resources: {
    Records: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      },
    },
    Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'sample' } },
    Dead: { Type: 'AWS::SQS::Queue' },
  },
  Outputs: {
    TableName: { Value: { Ref: 'Records' } },
    TableArn: { Value: { 'Fn::GetAtt': ['Records', 'Arn'] } },
    DeadArn: { Value: { 'Fn::GetAtt': ['Dead', 'Arn'] } },
    DeadUrl: { Value: { Ref: 'Dead' }, Export: { Name: { 'Fn::Sub': '${AWS::StackName}:DeadUrl' } } },
    BusName: { Value: { Ref: 'Bus' } },
    BusArn: { Value: { 'Fn::GetAtt': ['Bus', 'Arn'] } },
  },
};

function functionsTemplate(options: SampleOptions) {
  const { timeoutSeconds = 5, visibilityTimeout = 30, maxReceiveCount = 3, maxConcurrency = 2 } = options;
  return {
    Parameters: { Endpoint: { Type: 'String' } },
    Resources: {
      Inbox: {
        Type: 'AWS::SQS::Queue',
        Properties: {
          VisibilityTimeout: visibilityTimeout,
          RedrivePolicy: { deadLetterTargetArn: fromState('DeadArn'), maxReceiveCount },
        },
      },
      InboxPolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [{ Ref: 'Inbox' }],
          PolicyDocument: {
            Statement: [
              {
                Effect: 'Allow',
                Action: ['sqs:SendMessage', 'sqs:GetQueueUrl'],
                Principal: { Service: 'events.amazonaws.com' },
                Resource: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
                Condition: { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': ['Rule', 'Arn'] } } },
              },
            ],
          },
        },
      },
      WorkerRole: roleOf('lambda.amazonaws.com'),
      WorkerPolicy: {
        Type: 'AWS::IAM::Policy',
        Properties: {
          PolicyName: 'worker',
          Roles: [{ Ref: 'WorkerRole' }],
          PolicyDocument: {
            Version: '2012-10-17',
            Statement: [
              {
                Effect: 'Allow',
                Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
                Resource: fromState('TableArn'),
                Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['worker/*'] } },
              },
              {
                Effect: 'Allow',
                Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
                Resource: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
              },
              {
                Effect: 'Allow',
                Action: 'sqs:SendMessage',
                Resource: [{ 'Fn::GetAtt': ['Inbox', 'Arn'] }, fromState('DeadArn')],
              },
              {
                Effect: 'Allow',
                Action: 'events:PutEvents',
                Resource: fromState('BusArn'),
                Condition: { 'ForAllValues:StringEquals': { 'events:source': ['sample.worker'] } },
              },
            ],
          },
        },
      },
      Worker: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Role: { 'Fn::GetAtt': ['WorkerRole', 'Arn'] },
          Code: { S3Bucket: { 'Fn::Sub': 'assets-${AWS::AccountId}-${AWS::Region}' }, S3Key: 'abc.zip' },
          Handler: 'index.handler',
          Runtime: 'nodejs24.x',
          Timeout: timeoutSeconds,
          MemorySize: 256,
          LoggingConfig: { LogFormat: 'JSON' },
          Environment: {
            Variables: {
              TABLE_NAME: fromState('TableName'),
              DLQ_URL: { 'Fn::ImportValue': 'SampleState:DeadUrl' },
              INBOX_URLS: { 'Fn::Join': ['', ['{"worker":"', { Ref: 'Inbox' }, '"}']] },
              CLUSTER_ENDPOINT: { Ref: 'Endpoint' },
              ...options.variables,
            },
          },
          Tags: [{ Key: 'curfew.dev/function', Value: 'worker' }],
        },
      },
      Source: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
          FunctionName: { Ref: 'Worker' },
          BatchSize: 10,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: maxConcurrency },
        },
      },
      Rule: {
        Type: 'AWS::Events::Rule',
        Properties: {
          EventBusName: fromState('BusName'),
          EventPattern: { source: ['sample'], 'detail-type': ['NodeChanged'] },
          Targets: [
            { Id: 'Target0', Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] }, DeadLetterConfig: { Arn: fromState('DeadArn') } },
          ],
        },
      },
      ...(options.scheduleExpression !== undefined && {
        TickRole: roleOf('scheduler.amazonaws.com', {
          'aws:SourceAccount': { Ref: 'AWS::AccountId' },
          'aws:SourceArn': { 'Fn::Sub': 'arn:aws:scheduler:${AWS::Region}:${AWS::AccountId}:schedule-group/default' },
        }),
        TickPolicy: {
          Type: 'AWS::IAM::Policy',
          Properties: {
            PolicyName: 'tick',
            Roles: [{ Ref: 'TickRole' }],
            PolicyDocument: {
              Statement: [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: { 'Fn::GetAtt': ['Inbox', 'Arn'] } }],
            },
          },
        },
        Tick: {
          Type: 'AWS::Scheduler::Schedule',
          Properties: {
            ScheduleExpression: options.scheduleExpression,
            Target: {
              Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
              Input: '{"source":"tick"}',
              RoleArn: { 'Fn::GetAtt': ['TickRole', 'Arn'] },
            },
          },
        },
      }),
      ...options.resources,
    },
  };
}

/** A role that a service may take, under the conditions that are given. */
export function roleOf(Service: string, StringEquals?: Readonly<Record<string, unknown>>) {
  const statement = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service } };
  const Statement = [{ ...statement, ...(StringEquals && { Condition: { StringEquals } }) }];
  return { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement } } };
}
