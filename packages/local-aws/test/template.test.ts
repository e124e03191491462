import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../infra/build-app.ts';
import { createQueuePolicies } from '../src/iam/queue-policies.ts';
import { loadAssembly } from '../src/template.ts';
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { writeSampleAssembly, type SampleOptions } from './sample-assembly.ts';

const OPTIONS = { region: 'us-east-1', account: '000000000000', sqsEndpoint: 'http://127.0.0.1:1' };
const HANDLER = 'export const handler = async () => {};';

function load(
  options: Partial<SampleOptions> = {},
  environment: Record<string, string> = { CLUSTER_ENDPOINT: 'http://here' },
) {
  using assembly = writeSampleAssembly({ handler: HANDLER, ...options });
  return { ...loadAssembly(assembly.dir, { ...OPTIONS, environment }), dir: assembly.dir };
}

describe('a cloud assembly', () => {
  it('gives queues with their redrive across stacks', () => {
    const { queues } = load({ maxReceiveCount: 7 });
    const dead = queues.find(({ name }) => name.includes('Dead'));
    const inbox = queues.find(({ name }) => name.includes('Inbox'));
    expect(inbox?.url).toBe(`http://127.0.0.1:1/000000000000/${inbox?.name}`);
    expect(inbox?.attributes['VisibilityTimeout']).toBe('30');
    expect(JSON.parse(inbox?.attributes['RedrivePolicy'] ?? '')).toEqual({
      deadLetterTargetArn: dead?.arn,
      maxReceiveCount: 7,
    });
  });

  it('gives functions with their bundle, their name and every variable resolved', () => {
    const { functions, queues, tables, dir } = load();
    const urlOf = (part: string) => queues.find(({ name }) => name.includes(part))?.url;
    expect(functions).toMatchObject([
      {
        name: 'worker',
        taskRoot: join(dir, 'asset.abc'),
        handler: 'index.handler',
        timeoutSeconds: 5,
        memoryMiB: 256,
        environment: {
          TABLE_NAME: tables[0]?.TableName,
          DLQ_URL: urlOf('Dead'),
          INBOX_URLS: JSON.stringify({ worker: urlOf('Inbox') }),
          CLUSTER_ENDPOINT: 'http://here',
        },
      },
    ]);
  });

  it('joins functions, rules and schedules to their queues', () => {
    const { eventSources, functions, rules, schedules, queues, buses } = load({ scheduleExpression: 'rate(1 minute)' });
    const inbox = queues.find(({ name }) => name.includes('Inbox'))?.name;
    expect(eventSources).toEqual([
      {
        queueName: inbox,
        functionName: functions[0]?.physicalName,
        batchSize: 10,
        maxConcurrency: 2,
        reportsBatchItemFailures: true,
      },
    ]);
    expect(rules).toMatchObject([
      { busName: 'sample', targets: [{ queueName: inbox }], pattern: { source: ['sample'] } },
    ]);
    expect(schedules).toMatchObject([{ expression: 'rate(1 minute)', queueName: inbox, input: '{"source":"tick"}' }]);
    expect(buses).toEqual(['sample']);
  });

  it('lets a rule send to a queue only by the policy of the queue', () => {
    const may = (resources: Record<string, unknown>) => {
      const model = load({ resources });
      const [rule] = model.rules;
      const [target] = rule?.targets ?? [];
      return rule !== undefined && createQueuePolicies(model)(rule, target?.queueName ?? '');
    };
    const policy = (Statement: object) => ({
      InboxPolicy: {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: { Queues: [{ Ref: 'Inbox' }], PolicyDocument: { Statement: [Statement] } },
      },
    });
    const inbox = { 'Fn::GetAtt': ['Inbox', 'Arn'] };
    const allow = {
      Effect: 'Allow',
      Action: 'sqs:SendMessage',
      Principal: { Service: 'events.amazonaws.com' },
      Resource: inbox,
    };
    const from = (arn: unknown) => ({ ...allow, Condition: { ArnLike: { 'aws:SourceArn': arn } } });
    expect(may({})).toBe(true);
    expect(may({ InboxPolicy: undefined })).toBe(false);
    expect(may(policy(from({ 'Fn::Sub': 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/sample/*' })))).toBe(
      true,
    );
    expect(may(policy(from('arn:aws:events:*:*:rule/other/*')))).toBe(false);
    expect(may(policy({ ...allow, Principal: { Service: 'sns.amazonaws.com' } }))).toBe(false);
    expect(may(policy({ ...allow, Action: 'sqs:ReceiveMessage' }))).toBe(false);
    expect(() => may(policy({ ...allow, Effect: 'Deny' }))).toThrow('reading AWS::SQS::QueuePolicy InboxPolicy');
  });

  it('needs a value for what only a deployment knows', () => {
    expect(() => load({}, {})).toThrow('parameter Endpoint of stack Sample has no value');
  });

  it('gives a function no variable that its template does not have', () => {
    const { functions } = load({}, { CLUSTER_ENDPOINT: 'x', OTHER: 'y' });
    expect(functions[0]?.environment).not.toHaveProperty('OTHER');
  });

  const target = { Id: 'T', Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] } };
  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a target that is no queue',
      { Type: 'AWS::Events::Rule', Properties: { EventPattern: {}, Targets: [{ Id: 'T', Arn: 'arn:aws:lambda:x' }] } },
      /only queues/,
    ],
    [
      'an input transformer',
      { Type: 'AWS::Events::Rule', Properties: { EventPattern: {}, Targets: [{ ...target, InputTransformer: {} }] } },
      /InputTransformer/,
    ],
    [
      'a rule with a schedule',
      { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [target] } },
      /event pattern/,
    ],
    [
      'another runtime',
      {
        Type: 'AWS::Lambda::Function',
        Properties: { Code: { S3Key: 'abc.zip' }, Role: 'r', Handler: 'x', Runtime: 'python3.14' },
      },
      /only Node/,
    ],
    [
      'code that is not there',
      {
        Type: 'AWS::Lambda::Function',
        Properties: { Code: { S3Key: 'no.zip' }, Role: 'r', Handler: 'x', Runtime: 'nodejs24.x' },
      },
      /no.zip is not in/,
    ],
    [
      'a managed policy',
      { Type: 'AWS::IAM::Role', Properties: { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] } },
      /managed policies are not supported/,
    ],
    [
      'a statement that denies',
      {
        Type: 'AWS::IAM::Policy',
        Properties: {
          Roles: [],
          PolicyDocument: { Statement: [{ Effect: 'Deny', Action: 'sqs:SendMessage', Resource: '*' }] },
        },
      },
      /only Allow/,
    ],
    [
      'a filter',
      {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: { EventSourceArn: target.Arn, FunctionName: 'f', FilterCriteria: { Filters: [] } },
      },
      /filters are not supported/,
    ],
  ])('is refused for %s, by the name of the resource', (_, resource, problem) => {
    let thrown: unknown;
    try {
      load({ resources: { Odd: resource } });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      message: expect.stringContaining('Odd of stack Sample'),
      cause: { message: expect.stringMatching(problem) },
    });
  });

  it('is refused for an intrinsic that does not run locally, by the name of the stack', () => {
    const resources = { Odd: { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: { 'Fn::If': ['A', 1, 2] } } } };
    expect(() => load({ resources })).toThrow('stack Sample uses Fn::If');
  });

  it('is refused when it is none', () => {
    expect(() => loadAssembly('/nonexistent', OPTIONS)).toThrow('/nonexistent is not a synthesized app');
  });
});

describe("Curfew's own assembly", () => {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-own-'));
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));
  buildApp({ outdir, context: { 'aws:cdk:bundling-stacks': [] } }).app.synth();
  const environment = { CLUSTER_NAME: 'local', CLUSTER_ENDPOINT: 'http://127.0.0.1:2', CLUSTER_CA: 'Q0E=' };
  const parameters = { ClusterName: 'local' };
  const model = loadAssembly(outdir, { ...OPTIONS, environment, parameters });

  it('has every deployed function, with its cluster in place of that of a deployment', () => {
    expect(model.functions.map(({ name }) => name)).toEqual(FUNCTION_NAMES);
    const repair = model.functions.find(({ name }) => name === 'repair');
    expect(repair?.environment).toMatchObject(environment);
    for (const fn of model.functions) expect(fn.environment).toMatchObject({ CLUSTER_NAME: 'local' });
  });

  it('lets every rule send to its queues and to their dead-letter queues', () => {
    const may = createQueuePolicies(model);
    const ways = model.rules.flatMap(rule =>
      rule.targets.flatMap(({ queueName, deadLetterQueueName = queueName }) =>
        [queueName, deadLetterQueueName].map(name => [rule.name, name, may(rule, name)] as const),
      ),
    );
    expect(ways.length).toBeGreaterThan(20);
    expect(ways.filter(([, , allowed]) => !allowed)).toEqual([]);
  });

  it('routes every row of the table to the inbox of its function', () => {
    const inboxOf = (functionName: string) => {
      const physicalName = model.functions.find(({ name }) => name === functionName)?.physicalName;
      return model.eventSources.find(source => source.functionName === physicalName)?.queueName;
    };
    for (const { name, target, pattern } of ROUTES) {
      const rule = model.rules.find(candidate => candidate.name.includes(name));
      expect(rule).toMatchObject({ pattern: pattern('local'), targets: [{ queueName: inboxOf(target) }] });
    }
    const ticked = model.schedules.map(({ queueName }) => queueName);
    expect(ticked).toContain(inboxOf('timer'));
    expect(ticked).toContain(inboxOf('repair'));
  });
});
