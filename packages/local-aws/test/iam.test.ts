import { BatchGetItemCommand, DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { startEventBus, type LocalEventBus } from '../src/event-bus.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { createAccess } from '../src/iam/access.ts';
import { guardDynamoDb } from '../src/iam/dynamodb-guard.ts';
import type { HttpServer } from '../src/loopback.ts';
import { isAllowed } from '../src/iam/evaluate.ts';
import { queuePolicySchema } from '../src/iam/queue-policies.ts';
import { policyDocumentSchema, type Statement } from '../src/iam/statements.ts';
import { startSqs, type LocalSqs } from '../src/sqs.ts';

const ACCOUNT = '000000000000';
const REGION = 'us-east-1';
const arn = (service: string, rest: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;
const TABLE = arn('dynamodb', 'table/Records');

const statements = (...Statement: readonly object[]): readonly Statement[] =>
  policyDocumentSchema.parse({ Version: '2012-10-17', Statement }).Statement;

const POLICY = statements(
  {
    Effect: 'Allow',
    Action: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
    Resource: TABLE,
    Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['repair/*'] } },
  },
  { Effect: 'Allow', Action: 'dynamodb:Query', Resource: `${TABLE}/index/due` },
  { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: [arn('sqs', 'repair'), arn('sqs', 'dead-*')] },
  {
    Effect: 'Allow',
    Action: 'events:PutEvents',
    Resource: arn('events', 'event-bus/curfew'),
    Condition: {
      'ForAllValues:StringEquals': { 'events:source': ['curfew.repair', 'curfew.drain'] },
      Null: { 'events:source': 'false' },
    },
  },
);

describe('statements', () => {
  const put = { action: 'dynamodb:PutItem', resource: TABLE, context: { 'dynamodb:LeadingKeys': ['repair/node/1'] } };
  const events = { action: 'events:PutEvents', resource: arn('events', 'event-bus/curfew') };
  it.each([
    ['the own record', put, true],
    ["another's record", { ...put, context: { 'dynamodb:LeadingKeys': ['grace-period/node/1'] } }, false],
    ['one of two keys is not allowed', { ...put, context: { 'dynamodb:LeadingKeys': ['repair/1', 'x/1'] } }, false],
    ['a name that only begins alike', { ...put, context: { 'dynamodb:LeadingKeys': ['repairs/1'] } }, false],
    ['ForAllValues without a value holds', { ...put, context: {} }, true],
    ['another action', { ...put, action: 'dynamodb:DeleteItem' }, false],
    ['another spelling of the action', { ...put, action: 'dynamodb:putitem' }, true],
    ['another table', { ...put, resource: `${TABLE}2` }, false],
    ['the index', { action: 'dynamodb:Query', resource: `${TABLE}/index/due`, context: {} }, true],
    ['the table in place of the index', { action: 'dynamodb:Query', resource: TABLE, context: {} }, false],
    ['a queue', { action: 'sqs:SendMessage', resource: arn('sqs', 'repair'), context: {} }, true],
    ['a queue by pattern', { action: 'sqs:SendMessage', resource: arn('sqs', 'dead-letters'), context: {} }, true],
    ['another queue', { action: 'sqs:SendMessage', resource: arn('sqs', 'timer'), context: {} }, false],
    ['a source', { ...events, context: { 'events:source': ['curfew.drain'] } }, true],
    ['two sources', { ...events, context: { 'events:source': ['curfew.drain', 'curfew.repair'] } }, true],
    ['another source', { ...events, context: { 'events:source': ['curfew.timer'] } }, false],
    ['no source', { ...events, context: {} }, false],
  ])('%s', (_, request, allowed) => {
    expect(isAllowed(POLICY, request)).toBe(allowed);
  });

  // IAM calls it a fault of the policy, and what it says of such a request is nowhere written.
  it('in which a key of many values stands without a set operator are refused', () => {
    const put = { Effect: 'Allow', Action: 'events:PutEvents', Resource: arn('events', 'event-bus/curfew') };
    const Condition = { StringEquals: { 'events:source': ['curfew.repair'] } };
    expect(() => statements({ ...put, Condition })).toThrow(/events:source needs a set operator/);
  });

  it('allow nothing when there are none', () => {
    expect(isAllowed([], put)).toBe(false);
  });

  it.each([
    ['a denial', { Effect: 'Deny', Action: 'sqs:SendMessage', Resource: '*' }, /only Allow/],
    ['an action with a wildcard', { Effect: 'Allow', Action: 'sqs:*', Resource: '*' }, /Action/],
    ['NotAction', { Effect: 'Allow', NotAction: 'sqs:SendMessage', Resource: '*' }, /NotAction/],
    [
      'another operator',
      {
        Effect: 'Allow',
        Action: 'sqs:SendMessage',
        Resource: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'true' } },
      },
      /Bool/,
    ],
  ])('in another form are refused: %s', (_, statement, message) => {
    expect(() => statements(statement)).toThrow(message);
  });
});

describe('a queue that denies all but some', () => {
  const roleOf = (name: string, arnOfRole: string) => ({ name, arn: arnOfRole, statements: POLICY });
  const [own, other, ofPattern] = ['RepairRole', 'OtherRole', 'OnCallAtNight'].map(name =>
    roleOf(name, `arn:aws:iam::${ACCOUNT}:role/${name}`),
  );
  const policy = queuePolicySchema.parse({
    Queues: ['repair'],
    PolicyDocument: {
      Statement: [
        {
          Sid: 'OnlyCurfew',
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Action: 'sqs:SendMessage',
          Resource: arn('sqs', 'repair'),
          Condition: {
            ArnNotLike: { 'aws:PrincipalArn': [own?.arn, `arn:aws:iam::${ACCOUNT}:role/OnCall*`] },
            Bool: { 'aws:PrincipalIsAWSService': 'false' },
          },
        },
      ],
    },
  });
  const queues = [{ name: 'repair', arn: arn('sqs', 'repair'), url: 'repair', attributes: {} }];
  const roles = [own, other, ofPattern].flatMap(each => each ?? []);
  const access = createAccess({ account: ACCOUNT, roles, queues, queuePolicies: [policy] });
  const send = { action: 'sqs:SendMessage', resource: arn('sqs', 'repair'), context: {} };
  const answerTo = (name: string) => access.check(`AWS4-HMAC-SHA256 Credential=${name}/x/x/sqs/aws4_request`, [send]);

  it('takes messages of those that it names, by a pattern too', () => {
    expect([answerTo('RepairRole'), answerTo('OnCallAtNight')]).toEqual([undefined, undefined]);
  });

  it('refuses whoever else has the permission, and says that it is the resource that denies', () => {
    expect(answerTo('OtherRole')).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('explicit deny in a resource-based policy'),
    });
  });
});

describe('the endpoints', () => {
  const role = { name: 'RepairRole', arn: `arn:aws:iam::${ACCOUNT}:role/RepairRole`, statements: POLICY };
  const access = createAccess({ account: ACCOUNT, roles: [role] });
  const credentials = access.credentialsOf(role.arn);
  const keys = {
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' as const }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' as const }],
    GlobalSecondaryIndexes: [],
  };
  const tables = [{ TableName: 'Records', ...keys }];
  const options = { region: REGION, credentials, maxAttempts: 1 };
  let sqs: LocalSqs;
  let bus: LocalEventBus;
  let guard: HttpServer;

  beforeAll(async () => {
    sqs = await startSqs({ region: REGION, account: ACCOUNT, access: () => access });
    const queue = (name: string) => ({ name, arn: arn('sqs', name), url: '', attributes: {} });
    await sqs.createQueues([queue('repair'), queue('timer')]);
    const model = { region: REGION, account: ACCOUNT, buses: ['curfew'], rules: [] };
    bus = await startEventBus({ model, clock: systemClock, send: async () => undefined, access });
    // Nothing stands behind it: what is allowed ends in a broken connection.
    const upstream = 'http://127.0.0.1:9';
    guard = await guardDynamoDb({ upstream, model: { region: REGION, account: ACCOUNT, tables }, access });
  });
  afterAll(async () => {
    await Promise.all([sqs.stop(), bus.stop(), guard.stop()]);
  });

  const denied = (action: string, resource: string): string =>
    `User: arn:aws:sts::${ACCOUNT}:assumed-role/RepairRole/local is not authorized to perform: ${action} on ` +
    `resource: ${resource} because no identity-based policy allows the ${action} action`;

  it('of SQS answers 403 AccessDenied, for a batch too', async () => {
    const client = new SQSClient({ ...options, endpoint: sqs.endpoint });
    const url = (name: string): string => `${sqs.endpoint}/${ACCOUNT}/${name}`;
    await client.send(new SendMessageCommand({ QueueUrl: url('repair'), MessageBody: 'x' }));
    const refusal = {
      name: 'AccessDenied',
      message: denied('sqs:SendMessage', arn('sqs', 'timer')),
      $metadata: expect.objectContaining({ httpStatusCode: 403 }),
    };
    const Entries = [{ Id: '1', MessageBody: 'x' }];
    await expect(
      client.send(new SendMessageCommand({ QueueUrl: url('timer'), MessageBody: 'x' })),
    ).rejects.toMatchObject(refusal);
    await expect(client.send(new SendMessageBatchCommand({ QueueUrl: url('timer'), Entries }))).rejects.toMatchObject(
      refusal,
    );
    expect((await sqs.inspect('timer')).ready).toEqual([]);
    client.destroy();
  });

  it('of EventBridge refuses a call with any source that is not allowed', async () => {
    const client = new EventBridgeClient({ ...options, endpoint: bus.endpoint });
    const entry = (Source: string) => ({ EventBusName: 'curfew', Source, DetailType: 'x', Detail: '{}' });
    const publish = (...sources: readonly string[]) =>
      client.send(new PutEventsCommand({ Entries: sources.map(entry) }));
    expect(await publish('curfew.repair')).toMatchObject({ FailedEntryCount: 0 });
    await expect(publish('curfew.repair', 'curfew.timer')).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: denied('events:PutEvents', arn('events', 'event-bus/curfew')),
    });
    client.destroy();
  });

  it("of DynamoDB refuses another's record and the table in place of its index; what is allowed goes on", async () => {
    const client = new DynamoDBClient({ ...options, endpoint: guard.endpoint });
    const put = (pk: string) => client.send(new PutItemCommand({ TableName: 'Records', Item: { pk: { S: pk } } }));
    const query = (IndexName?: string) =>
      client.send(
        new QueryCommand({ TableName: 'Records', KeyConditionExpression: 'x = y', ...(IndexName && { IndexName }) }),
      );
    const keys = (...pks: readonly string[]) => ({ Keys: pks.map(pk => ({ pk: { S: pk } })) });
    const read = (RequestItems: Record<string, ReturnType<typeof keys>>) =>
      client.send(new BatchGetItemCommand({ RequestItems }));
    const refused = (action: string) => ({ name: 'AccessDeniedException', message: denied(action, TABLE) });
    await expect(put('timer/n1')).rejects.toMatchObject(refused('dynamodb:PutItem'));
    await expect(read({ Records: keys('repair/n1', 'timer/n1') })).rejects.toMatchObject(
      refused('dynamodb:BatchGetItem'),
    );
    await expect(read({ Records: keys('repair/n1'), Others: keys('repair/n1') })).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
    await expect(query()).rejects.toMatchObject(refused('dynamodb:Query'));
    for (const allowed of [put('repair/n1'), query('due'), read({ Records: keys('repair/n1', 'repair/n2') })])
      await expect(allowed).rejects.toMatchObject({ code: 'ECONNRESET' });
    client.destroy();
  });

  it('know who signs: the account may do everything, a key that nobody has nothing', async () => {
    const put = async (accessKeyId: string) => {
      const client = new DynamoDBClient({
        ...options,
        endpoint: guard.endpoint,
        credentials: { accessKeyId, secretAccessKey: 'x' },
      });
      const call = client.send(new PutItemCommand({ TableName: 'Records', Item: { pk: { S: 'timer/n1' } } }));
      return call
        .then(
          () => 'done',
          (error: NodeJS.ErrnoException) => error.code ?? error.name,
        )
        .finally(() => client.destroy());
    };
    expect(await put(FAKE_CREDENTIALS.accessKeyId)).toBe('ECONNRESET');
    expect(await put('nobody')).toBe('UnrecognizedClientException');
    const unsigned = await fetch(guard.endpoint, { method: 'POST', body: '{}' });
    expect([unsigned.status, await unsigned.json()]).toEqual([
      400,
      expect.objectContaining({ __type: expect.stringContaining('MissingAuthenticationToken') }),
    ]);
  });
});
