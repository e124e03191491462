import { type ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redrive } from '../../../cli/operate/redrive.ts';
import { redriveCommand, type RedriveCommandOptions } from '../../../cli/redrive.ts';
import { FAKE_CREDENTIALS } from '../../../packages/local-aws/src/fake-credentials.ts';
import { startSqs, type LocalSqs } from '../../../packages/local-aws/src/sqs.ts';
import { operationOutputId } from '../../../shared/contract/operation-outputs.ts';
import type { FunctionName } from '../../../shared/contract/names.ts';
import { createDeadLetters } from '../../../shared/adapters/sqs/dead-letters.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../../fakes/aws-control-plane.ts';

const ACCOUNT = '000000000000';
const eventOf = (name: string): string =>
  JSON.stringify({
    source: 'x',
    'detail-type': 'NodeChanged',
    detail: { subject: { apiVersion: 'v1', kind: 'Node', name } },
  });

let sqs: LocalSqs;
let plane: AwsControlPlane;
let client: SQSClient;
const url = (name: string): string => `${sqs.endpoint}/${ACCOUNT}/${name}`;

beforeAll(async () => {
  sqs = await startSqs({ region: 'us-east-1', account: ACCOUNT });
  plane = await startAwsControlPlane();
  const env = {
    AWS_ENDPOINT_URL: plane.endpoint,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: FAKE_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: FAKE_CREDENTIALS.secretAccessKey,
  };
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
  client = new SQSClient({});
});
afterAll(async () => {
  vi.unstubAllEnvs();
  client.destroy();
  await plane.stop();
  await sqs.stop();
});

/** A function of the stack with queues of its own, and what they hold. */
async function aFunction(name: FunctionName, queues: string = name) {
  const [inbox, dead] = [`${queues}-inbox`, `${queues}-dead`];
  const arn = `arn:aws:sqs:us-east-1:${ACCOUNT}:`;
  await sqs.createQueues([inbox, dead].map(queue => ({ name: queue, arn: `${arn}${queue}`, url: '', attributes: {} })));
  plane.outputs
    .set(operationOutputId(name, 'EventSource'), 'unused')
    .set(operationOutputId(name, 'Inbox'), url(inbox))
    .set(operationOutputId(name, 'DeadLetters'), url(dead));
  const bodies = async (queue: string) => {
    const { ready, inFlight } = await sqs.inspect(queue);
    expect(inFlight).toEqual([]);
    return ready.map(({ body }) => body);
  };
  return {
    dead: url(dead),
    inbox: url(inbox),
    park: (subject: string, reason: string) =>
      createDeadLetters({ client, queueUrl: url(dead) }).park({
        function: name,
        body: eventOf(subject),
        reason,
        explanation: 'no',
      }),
    async run(options: Partial<RedriveCommandOptions> = {}) {
      const ended = await redriveOf({ function: name, ...options });
      return { ...ended, inbox: await bodies(inbox), dead: await bodies(dead) };
    },
    lengths: async () => [(await bodies(dead)).length, (await bodies(inbox)).length],
  };
}

async function redriveOf(options: Partial<RedriveCommandOptions>) {
  let [out, error] = ['', ''];
  const code = await redriveCommand(
    { stack: 'Curfew', function: 'repair', ...options },
    { out: text => void (out += text), error: text => void (error += text) },
  );
  return { code, out, error };
}

describe('curfew redrive', () => {
  // A run waits seconds for messages that do not come. Each of these has a function of its own, so they wait side by side.
  it.concurrent('moves what a function has parked back into its inbox', async () => {
    const { park, run } = await aFunction('repair');
    // Anybody who may put events on the bus can have one parked.
    const evil = 'n2\u001b[2J\nmoved x';
    for (const name of ['n1', evil]) await park(name, 'Bug');
    const { code, out, inbox, dead } = await run();
    expect([code, inbox.toSorted(), dead]).toEqual([0, [eventOf('n1'), eventOf(evil)], []]);
    expect(out).toMatch(/moved [\w-]+ Bug NodeChanged Node n1\n/);
    expect(out).toContain(String.raw`NodeChanged Node n2\u001b[2J\nmoved x`);
    expect(out).toContain('moved 2, left 0');
  });

  it.concurrent('moves more than one answer of SQS holds', async () => {
    const { park, run } = await aFunction('drain');
    for (let n = 0; n < 23; n += 1) await park(`n${n}`, 'Bug');
    const { out, inbox, dead } = await run();
    expect([inbox.length, dead.length]).toEqual([23, 0]);
    expect(out).toContain('moved 23, left 0');
  });

  it.concurrent('leaves those with another reason, visible at once', async () => {
    const { park, run } = await aFunction('finalizer');
    await park('n1', 'Bug');
    await park('n2', 'InvalidMessage');
    const { out, inbox, dead } = await run({ reason: 'InvalidMessage' });
    expect([inbox, dead]).toEqual([[eventOf('n2')], [eventOf('n1')]]);
    expect(out).toContain('moved 1, left 1');
  });

  it.concurrent('knows what EventBridge could not deliver and what the inbox gave up', async () => {
    const { run, dead } = await aFunction('grace-period');
    const attributes = { ERROR_CODE: { DataType: 'String', StringValue: 'NO_PERMISSIONS' } };
    await client.send(
      new SendMessageCommand({ QueueUrl: dead, MessageBody: eventOf('n1'), MessageAttributes: attributes }),
    );
    await client.send(new SendMessageCommand({ QueueUrl: dead, MessageBody: 'not an event' }));
    expect((await run({ reason: 'NO_PERMISSIONS' })).inbox).toEqual([eventOf('n1')]);
    const { out, inbox } = await run({ reason: 'TooManyReceives' });
    expect(inbox).toEqual([eventOf('n1'), 'not an event']);
    expect(out).toMatch(/moved [\w-]+ TooManyReceives\n/);
  });

  it('moves no more than the limit', async () => {
    const { park, run } = await aFunction('repair', 'limits');
    for (const name of ['n1', 'n2', 'n3']) await park(name, 'Bug');
    const { inbox, dead } = await run({ limit: '2' });
    expect([inbox.length, dead.length]).toEqual([2, 1]);
  });

  it.concurrent('moves nothing in a dry run', async () => {
    const { park, run } = await aFunction('timer');
    await park('n1', 'Bug');
    const { code, out, inbox, dead } = await run({ dryRun: true });
    expect([code, inbox, dead]).toEqual([0, [], [eventOf('n1')]]);
    expect(out).toMatch(/would move [\w-]+ Bug NodeChanged Node n1\nwould move 1, left 0\n/);
  });

  it('I9: loses no message when it is refused in between', async () => {
    const { park, dead, inbox, lengths } = await aFunction('repair', 'refused');
    await park('n1', 'Bug');
    const failing = (refused: string) => ({
      send: (command: { constructor: { name: string } }) =>
        command.constructor.name === refused
          ? Promise.reject(new Error('refused'))
          : client.send(command as ReceiveMessageCommand),
    });
    const attempt = (refused: string) =>
      redrive({
        client: failing(refused),
        from: dead,
        to: inbox,
        onMessage: () => undefined,
      });
    await expect(attempt('SendMessageCommand')).rejects.toThrow('it stays where it was');
    expect(await lengths()).toEqual([1, 0]);
    await expect(attempt('DeleteMessageCommand')).rejects.toThrow('it is in both queues');
    expect(await lengths()).toEqual([1, 1]);
  });

  it('sends each message in the group that it is about', async () => {
    const { park, dead, inbox } = await aFunction('repair', 'groups');
    for (const name of ['n1', 'n2']) await park(name, 'Bug');
    const groups: unknown[] = [];
    const send = (command: ReceiveMessageCommand | SendMessageCommand) => {
      if (command instanceof SendMessageCommand) groups.push(command.input.MessageGroupId);
      return client.send(command as ReceiveMessageCommand);
    };
    await redrive({ client: { send }, from: dead, to: inbox, onMessage: () => undefined });
    expect(new Set(groups)).toEqual(new Set(['Node/n1', 'Node/n2']));
  });

  it.each([
    [{ limit: '0' }, '--limit 0 is not a whole number above zero'],
    [{ limit: 'many' }, '--limit many is not'],
    [
      { function: 'repairs' },
      'the stack Curfew has no function repairs; it has finalizer, drain, repair, grace-period, timer',
    ],
    [{ stack: 'Other' }, 'Stack with id Other does not exist'],
  ])('refuses %j', async (options, message) => {
    expect(await redriveOf(options)).toMatchObject({ code: 2, error: expect.stringContaining(message) });
  });
});
