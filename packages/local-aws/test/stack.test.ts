import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import type { LogLine } from '../src/log-lines.ts';
import { startLocalAws, type LocalAws, type LocalAwsOptions } from '../src/stack.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { writeSampleAssembly, type SampleOptions } from './sample-assembly.ts';

/** Writes what it is told into the table, with nothing but the variables of the template and the unchanged SDK. */
const HANDLER = `
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
const dynamo = new DynamoDBClient({ maxAttempts: 10 });
export const handler = async event => {
  const batchItemFailures = [];
  for (const { messageId, body } of event.Records) {
    const { source, detail = {} } = JSON.parse(body);
    if (detail.write !== undefined) {
      const Item = { pk: { S: detail.write } };
      const error = await dynamo.send(new PutItemCommand({ TableName: process.env.TABLE_NAME, Item })).catch(error => error);
      console.info({ handled: detail.name, name: error.name, message: error.message });
      continue;
    }
    if (detail.poison) {
      batchItemFailures.push({ itemIdentifier: messageId });
    } else {
      await dynamo.send(new UpdateItemCommand({
        TableName: process.env.TABLE_NAME,
        Key: { pk: { S: 'worker/' + (detail.name ?? source) } },
        UpdateExpression: 'ADD times :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }));
    }
    console.info({ handled: detail.name ?? source, pid: process.pid });
  }
  return { batchItemFailures };
};
`;

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const handledIn = ({ record }: LogLine): unknown => Object(record?.['message'])['handled'];

/** Waits for lines of the functions, which is how a test knows that something has happened. */
function createLog() {
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  return {
    lines,
    onLog(line: LogLine) {
      lines.push(line);
      for (const look of waiting) look();
    },
    /** Resolves when `name` has been handled `times` times. */
    handled(name: string, times = 1): Promise<void> {
      return new Promise(resolve => {
        const look = () => {
          if (lines.filter(line => handledIn(line) === name).length < times) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };
}

async function start(sample: Partial<SampleOptions> = {}, options: Partial<LocalAwsOptions> = {}) {
  const assembly = writeSampleAssembly({ handler: HANDLER, ...sample });
  opened.push(() => assembly[Symbol.dispose]());
  const log = createLog();
  const problems: string[] = [];
  const aws = await startLocalAws({
    assemblyDir: assembly.dir,
    env: { CLUSTER_ENDPOINT: 'http://cluster' },
    onLog: line => log.onLog(line),
    onProblem: ({ message }) => problems.push(message),
    ...options,
  });
  opened.push(() => aws.stop());
  return { aws, log, problems };
}

async function publish(
  { clientEnv, eventBusName }: LocalAws,
  detail: Record<string, unknown>,
  detailType = 'NodeChanged',
): Promise<void> {
  const client = new EventBridgeClient({
    endpoint: clientEnv['AWS_ENDPOINT_URL_EVENTBRIDGE'] ?? '',
    region: clientEnv['AWS_REGION'] ?? '',
    credentials: FAKE_CREDENTIALS,
  });
  const Entries = [
    { EventBusName: eventBusName, Source: 'sample', DetailType: detailType, Detail: JSON.stringify(detail) },
  ];
  await client.send(new PutEventsCommand({ Entries }));
  client.destroy();
}

/** How often the function has written the record of that name. */
async function timesOf({ endpoints, model }: LocalAws, name: string): Promise<number> {
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamoDb,
    region: 'us-east-1',
    credentials: FAKE_CREDENTIALS,
  });
  const { Item } = await client.send(
    new GetItemCommand({ TableName: model.tables[0]?.TableName, Key: { pk: { S: `worker/${name}` } } }),
  );
  client.destroy();
  return Number(Item?.['times']?.N ?? 0);
}

describe('local AWS', () => {
  it('takes an event from the bus through rule, inbox and function into the table', async () => {
    const { aws, log } = await start();
    await publish(aws, { name: 'n1' });
    await publish(aws, { name: 'n2' }, 'PodChanged');
    await log.handled('n1');
    expect(await timesOf(aws, 'n1')).toBe(1);
    expect(await timesOf(aws, 'n2')).toBe(0);
  });

  it('sends the schedule of the template to its inbox', async () => {
    const clock = createManualClock();
    const { aws, log } = await start({ scheduleExpression: 'rate(1 minute)' }, { clock });
    await clock.advance(0);
    await log.handled('tick');
    await clock.advance(60_000);
    await log.handled('tick', 2);
    expect(await timesOf(aws, 'tick')).toBe(2);
  });

  it('brings poison to the dead letters of the function after as many receives as the template says', async () => {
    const { aws, log } = await start({ visibilityTimeout: 0, maxReceiveCount: 2 });
    await publish(aws, { name: 'bad', poison: true });
    await log.handled('bad', 2);
    // The next receive moves it; a good message shows that there was one.
    await publish(aws, { name: 'good' });
    await log.handled('good');
    const { ready } = await aws.deadLetters('worker');
    expect(ready.map(({ body }) => JSON.parse(body).detail)).toEqual([{ name: 'bad', poison: true }]);
    expect((await aws.inbox('worker')).ready).toEqual([]);
  });

  it("refuses a function what its role does not allow, as AWS does: another's record", async () => {
    const { aws, log } = await start();
    await publish(aws, { name: 'own', write: 'worker/n1' });
    await publish(aws, { name: 'theft', write: 'repair/n1' });
    await Promise.all([log.handled('own'), log.handled('theft')]);
    const said = (name: string): unknown => log.lines.find(line => handledIn(line) === name)?.record?.['message'];
    expect(said('own')).toEqual({ handled: 'own' });
    expect(said('theft')).toEqual({
      handled: 'theft',
      name: 'AccessDeniedException',
      message: expect.stringMatching(
        /^User: arn:aws:sts::000000000000:assumed-role\/\S*WorkerRole\/local is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table\/\S+ because no identity-based policy allows the dynamodb:PutItem action$/,
      ),
    });
  });

  it('goes on after kill -9 of a function', async () => {
    const { aws, log } = await start();
    await publish(aws, { name: 'before' });
    await log.handled('before');
    const [pid] = aws.functionPids('worker');
    expect(await aws.killFunction('worker')).toBe(1);
    await publish(aws, { name: 'after' });
    await log.handled('after');
    expect(aws.functionPids('worker')).not.toContain(pid);
  });

  it('goes on with its data after kill -9 of DynamoDB', async () => {
    const { aws, log } = await start();
    await publish(aws, { name: 'n1' });
    await log.handled('n1');
    await aws.restartDynamoDb();
    await publish(aws, { name: 'n1' });
    await log.handled('n1', 2);
    expect(await timesOf(aws, 'n1')).toBe(2);
  });

  it('keeps the table over runs in a folder that is given, and removes one that is not', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'curfew-data-'));
    opened.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await start({}, { dataDir });
    await publish(first.aws, { name: 'n1' });
    await first.log.handled('n1');
    await first.aws.stop();
    expect(existsSync(dataDir)).toBe(true);
    const second = await start({}, { dataDir });
    expect(await timesOf(second.aws, 'n1')).toBe(1);
  });

  it('runs on dynalite too', async () => {
    const { aws, log } = await start({}, { dynamoDb: 'dynalite' });
    expect(aws.dynamoDb.implementation).toBe('dynalite');
    await publish(aws, { name: 'n1' });
    await log.handled('n1');
    expect(await timesOf(aws, 'n1')).toBe(1);
  });

  it('listens on the loopback interface only, and sends what has no stand-in nowhere', async () => {
    const { aws } = await start();
    for (const endpoint of Object.values(aws.endpoints)) expect(endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(aws.clientEnv['AWS_ENDPOINT_URL']).toBe('http://127.0.0.1:9');
  });

  // The SDK refuses to ask an endpoint that it is given for FIPS or dual-stack: a deployment that does so must run here all the same.
  it('runs functions whose template asks for FIPS or dual-stack endpoints', async () => {
    const { aws, log } = await start({
      variables: { AWS_USE_FIPS_ENDPOINT: 'true', AWS_USE_DUALSTACK_ENDPOINT: 'true' },
    });
    await publish(aws, { name: 'n1' });
    await log.handled('n1');
    expect(await timesOf(aws, 'n1')).toBe(1);
  });

  // `AWS_USE_FIPS_ENDPOINT` is what a bank has in each shell, `~/.aws/config` may say the same.
  it('runs where the settings of its user are about AWS, and shows them to nobody', async () => {
    vi.stubEnv('AWS_USE_FIPS_ENDPOINT', 'true');
    vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true');
    opened.push(() => void vi.unstubAllEnvs());
    const { aws } = await start();
    expect(aws.clientEnv).toMatchObject({
      AWS_USE_FIPS_ENDPOINT: 'false',
      AWS_USE_DUALSTACK_ENDPOINT: 'false',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    });
  });

  it('reports no problem for what it stops itself', async () => {
    const { aws, log, problems } = await start();
    await publish(aws, { name: 'n1' });
    await log.handled('n1');
    await aws.stop();
    expect(problems).toEqual([]);
  });

  it('stops what had started when a part does not start', async () => {
    using assembly = writeSampleAssembly({ handler: HANDLER, scheduleExpression: 'rate(0 minutes)' });
    await expect(startLocalAws({ assemblyDir: assembly.dir, env: { CLUSTER_ENDPOINT: 'x' } })).rejects.toThrow(
      'not a rate',
    );
  });

  it('knows functions by their name', async () => {
    const { aws } = await start();
    await expect(aws.inbox('other')).rejects.toThrow('there is no function other with an inbox');
  });
});
