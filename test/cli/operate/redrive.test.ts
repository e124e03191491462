import { type ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { redrive } from '../../../cli/operate/redrive.ts';
import { redriveCommand, type RedriveCommandOptions } from '../../../cli/redrive.ts';
import { FAKE_CREDENTIALS } from '../../../packages/local-aws/src/fake-credentials.ts';
import { startSqs, type LocalSqs } from '../../../packages/local-aws/src/sqs.ts';
import { createDeadLetters } from '../../../shared/adapters/sqs/dead-letters.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../../fakes/aws-control-plane.ts';

const ACCOUNT = '000000000000';
const eventOf = (name: string): string =>
  JSON.stringify({ source: 'x', 'detail-type': 'NodeChanged', detail: { subject: { kind: 'Node', name } } });

let sqs: LocalSqs;
let plane: AwsControlPlane;
let client: SQSClient;
const url = (name: string): string => `${sqs.endpoint}/${ACCOUNT}/${name}`;

beforeEach(async () => {
  sqs = await startSqs({ region: 'us-east-1', account: ACCOUNT });
  const queue = (name: string) => ({ name, arn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${name}`, url: '', attributes: {} });
  await sqs.createQueues([queue('inbox'), queue('dead')]);
  plane = await startAwsControlPlane();
  const env = {
    AWS_ENDPOINT_URL: plane.endpoint,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: FAKE_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: FAKE_CREDENTIALS.secretAccessKey,
  };
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
  plane.outputs
    .set('RepairEventSource', 'unused')
    .set('RepairInbox', url('inbox'))
    .set('RepairDeadLetters', url('dead'));
  client = new SQSClient({});
});
afterEach(async () => {
  vi.unstubAllEnvs();
  client.destroy();
  await plane.stop();
  await sqs.stop();
});

const park = (name: string, reason: string) =>
  createDeadLetters({ client, queueUrl: url('dead') }).park({
    function: 'repair',
    body: eventOf(name),
    reason,
    explanation: 'no',
  });

async function run(options: Partial<RedriveCommandOptions> = {}) {
  let [out, error] = ['', ''];
  const code = await redriveCommand(
    { stack: 'Curfew', function: 'repair', ...options },
    { out: text => void (out += text), error: text => void (error += text) },
  );
  const bodies = async (name: string) => {
    const { ready, inFlight } = await sqs.inspect(name);
    expect(inFlight).toEqual([]);
    return ready.map(({ body }) => body);
  };
  return { code, out, error, inbox: await bodies('inbox'), dead: await bodies('dead') };
}

describe('curfew redrive', () => {
  it('moves what a function has parked back into its inbox', async () => {
    for (const name of ['n1', 'n2']) await park(name, 'Bug');
    const { code, out, inbox, dead } = await run();
    expect([code, inbox.toSorted(), dead]).toEqual([0, [eventOf('n1'), eventOf('n2')], []]);
    expect(out).toMatch(/moved [\w-]+ Bug NodeChanged Node n1\n/);
    expect(out).toContain('moved 2, left 0');
  });

  it('moves more than one answer of SQS holds', async () => {
    for (let n = 0; n < 23; n += 1) await park(`n${n}`, 'Bug');
    const { out, inbox, dead } = await run();
    expect([inbox.length, dead.length]).toEqual([23, 0]);
    expect(out).toContain('moved 23, left 0');
  });

  it('leaves those with another reason, visible at once', async () => {
    await park('n1', 'Bug');
    await park('n2', 'InvalidMessage');
    const { out, inbox, dead } = await run({ reason: 'InvalidMessage' });
    expect([inbox, dead]).toEqual([[eventOf('n2')], [eventOf('n1')]]);
    expect(out).toContain('moved 1, left 1');
  });

  it('knows what EventBridge could not deliver and what the inbox gave up', async () => {
    const attributes = { ERROR_CODE: { DataType: 'String', StringValue: 'NO_PERMISSIONS' } };
    await client.send(
      new SendMessageCommand({ QueueUrl: url('dead'), MessageBody: eventOf('n1'), MessageAttributes: attributes }),
    );
    await client.send(new SendMessageCommand({ QueueUrl: url('dead'), MessageBody: 'not an event' }));
    expect((await run({ reason: 'NO_PERMISSIONS' })).inbox).toEqual([eventOf('n1')]);
    const { out, inbox } = await run({ reason: 'TooManyReceives' });
    expect(inbox).toEqual([eventOf('n1'), 'not an event']);
    expect(out).toMatch(/moved [\w-]+ TooManyReceives\n/);
  });

  it('moves no more than the limit', async () => {
    for (const name of ['n1', 'n2', 'n3']) await park(name, 'Bug');
    const { inbox, dead } = await run({ limit: '2' });
    expect([inbox.length, dead.length]).toEqual([2, 1]);
  });

  it('moves nothing in a dry run', async () => {
    await park('n1', 'Bug');
    const { code, out, inbox, dead } = await run({ dryRun: true });
    expect([code, inbox, dead]).toEqual([0, [], [eventOf('n1')]]);
    expect(out).toMatch(/would move [\w-]+ Bug NodeChanged Node n1\nwould move 1, left 0\n/);
  });

  it('I9: loses no message when it is refused in between', async () => {
    await park('n1', 'Bug');
    const failing = (refused: string) => ({
      send: (command: { constructor: { name: string } }) =>
        command.constructor.name === refused
          ? Promise.reject(new Error('refused'))
          : client.send(command as ReceiveMessageCommand),
    });
    const attempt = (refused: string) =>
      redrive({
        client: failing(refused) as unknown as SQSClient,
        from: url('dead'),
        to: url('inbox'),
        onMessage: () => undefined,
      });
    await expect(attempt('SendMessageCommand')).rejects.toThrow('it stays where it was');
    expect((await sqs.inspect('dead')).ready).toHaveLength(1);
    await expect(attempt('DeleteMessageCommand')).rejects.toThrow('it is in both queues');
    expect([(await sqs.inspect('dead')).ready.length, (await sqs.inspect('inbox')).ready.length]).toEqual([1, 1]);
  });

  it.each([
    [{ limit: '0' }, '--limit 0 is not a whole number above zero'],
    [{ limit: 'many' }, '--limit many is not'],
    [{ function: 'repairs' }, 'the stack Curfew has no function repairs; it has repair'],
    [{ stack: 'Other' }, 'Stack with id Other does not exist'],
  ])('refuses %j', async (options, message) => {
    expect(await run(options)).toMatchObject({ code: 2, error: expect.stringContaining(message) });
  });
});
