/** Hooks by the unchanged SDK, against the local endpoint of Lambda: whatever a function does, nothing but success is success (I1). */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InvokeOutcome } from '../../../../packages/local-aws/src/execution-environment.ts';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { startLambdaEndpoint } from '../../../../packages/local-aws/src/lambda-endpoint.ts';
import type { HttpServer } from '../../../../packages/local-aws/src/loopback.ts';
import { createHooks } from '../../../../shared/adapters/hooks/hooks.ts';
import { createInvokeFunction, INVOKE_CLIENT_DEFAULTS } from '../../../../shared/adapters/lambda/invoke-function.ts';
import type { BusEntry } from '../../../../shared/contract/envelope.ts';
import type { HookTarget } from '../../../../shared/domain/termination.ts';
import { seconds } from '../../../../shared/domain/time.ts';
import type { PublishOutcome } from '../../../../shared/ports/event-bus.ts';
import type { HookCall } from '../../../../shared/ports/hooks.ts';

const says = (payload: string): InvokeOutcome => ({ kind: 'answered', payload });
const FUNCTIONS: Readonly<Record<string, InvokeOutcome>> = {
  done: says('{"result":"succeed"}'),
  gone: says('{"result":"notFound","message":"there is none"}'),
  begun: says('{"result":"pending"}'),
  refuses: says('{"result":"fail","message":"the queue is not empty"}'),
  mumbles: says('{"result":"maybe"}'),
  shouts: says('<html>Bad Gateway</html>'),
  empty: says(''),
  none: says('null'),
  number: says('42'),
  list: says('[{"result":"succeed"}]'),
  throws: { kind: 'failed', error: { errorType: 'TypeError', errorMessage: 'no such luck' } },
  slow: { kind: 'timedOut' },
  dies: { kind: 'crashed', how: 'signal SIGKILL' },
};

describe('a hook', () => {
  const payloads: unknown[] = [];
  let lambda: HttpServer;
  const clients: LambdaClient[] = [];
  beforeAll(async () => {
    lambda = await startLambdaEndpoint({
      model: { region: 'us-east-1', account: '000000000000' },
      access: { check: () => undefined },
      invoke(name, payload) {
        payloads.push(JSON.parse(payload));
        if (name === 'silent') return Promise.withResolvers<InvokeOutcome>().promise;
        const outcome = FUNCTIONS[name];
        return outcome && Promise.resolve(outcome);
      },
    });
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await lambda.stop();
  });

  const callOf = (target: HookTarget) =>
    ({
      purpose: 'hook',
      name: 'deregister',
      target,
      key: 'uid-1/deregister',
      about: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'nc1', uid: 'uid-1' },
      details: { at: 'before-drain' },
    }) as const;

  function invoke(
    target: HookTarget,
    {
      requestTimeout = 5_000,
      endpoint = lambda.endpoint,
      published = { kind: 'published' },
      sent = [],
      forced = {},
    }: {
      requestTimeout?: number;
      endpoint?: string;
      published?: PublishOutcome;
      sent?: BusEntry[];
      forced?: Partial<HookCall>;
    } = {},
  ) {
    const { requestHandler } = INVOKE_CLIENT_DEFAULTS;
    const client = new LambdaClient({
      ...INVOKE_CLIENT_DEFAULTS,
      requestHandler: { ...requestHandler, requestTimeout },
      endpoint,
      region: 'us-east-1',
      credentials: FAKE_CREDENTIALS,
    });
    clients.push(client);
    const bus = {
      async publish(entries: readonly BusEntry[]) {
        sent.push(...entries);
        return entries.map(() => published);
      },
    };
    return createHooks({ bus, cluster: 'prod', invokeFunction: createInvokeFunction(client) }).invoke({
      ...callOf(target),
      ...forced,
    });
  }
  const lambdaOf = (functionName: string): HookTarget => ({ kind: 'lambda', functionName });

  it.each([
    ['done', { kind: 'succeeded' }],
    ['gone', { kind: 'succeeded' }],
    ['begun', { kind: 'pending' }],
    ['refuses', { kind: 'failed', message: 'the queue is not empty' }],
  ])('%s is answered as its function says', async (name, answer) => {
    expect(await invoke(lambdaOf(name))).toEqual(answer);
  });

  it.each([
    ['mumbles', 'function mumbles answered what is no answer'],
    ['shouts', 'function shouts answered what is not JSON: <html>Bad Gateway</html>'],
    ['empty', 'function empty answered what is not JSON'],
    ['none', 'function none answered what is no answer'],
    ['number', 'function number answered what is no answer'],
    ['list', 'function list answered what is no answer'],
    ['throws', 'no such luck'],
    ['slow', 'timed out'],
    ['dies', 'SIGKILL'],
    ['missing', 'function missing cannot be run: ResourceNotFoundException'],
  ])('whose function %s has failed, and says how', async (name, message) => {
    expect(await invoke(lambdaOf(name))).toEqual({ kind: 'failed', message: expect.stringContaining(message) });
  });

  it('whose function does not answer in time may have run: its outcome is not known', async () => {
    await expect(invoke(lambdaOf('silent'), { requestTimeout: 50 })).rejects.toMatchObject({
      name: 'RetryableError',
      outcomeUnknown: true,
    });
  });

  it('is called by nobody while Lambda cannot be reached', async () => {
    await expect(invoke(lambdaOf('done'), { endpoint: 'http://127.0.0.1:9' })).rejects.toMatchObject({
      name: 'RetryableError',
    });
  });

  it('tells its function whom it is about, with a key that stays the same', async () => {
    await invoke(lambdaOf('done'));
    expect(payloads.at(-1)).toEqual({
      schemaVersion: 1,
      cluster: 'prod',
      hook: 'deregister',
      key: 'uid-1/deregister',
      about: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'nc1', uid: 'uid-1' },
      at: 'before-drain',
    });
  });

  it('that nobody waits for is handed over, whatever becomes of it', async () => {
    const takenOnWithin = seconds(5);
    const forced = { takenOnWithin, details: { at: 'after-terminate', forced: true } };
    // Its answer comes never, and a failure of its own is not heard.
    for (const name of ['silent', 'throws', 'done']) {
      expect(await invoke(lambdaOf(name), { forced })).toEqual({ kind: 'pending' });
      expect(payloads.at(-1)).toMatchObject({ hook: 'deregister', at: 'after-terminate', forced: true });
    }
    expect(await invoke(lambdaOf('unknown'), { forced })).toEqual({
      kind: 'failed',
      message: 'function unknown cannot be run: ResourceNotFoundException',
    });
  });

  it('by an event waits for its worker; a bus that refuses it is a failure, one that does not answer is tried again', async () => {
    const target: HookTarget = { kind: 'event', detailType: 'DeregisterNode' };
    const sent: BusEntry[] = [];
    expect(await invoke(target, { sent })).toEqual({ kind: 'pending' });
    expect(sent).toMatchObject([{ source: 'curfew.finalizer', detailType: 'DeregisterNode' }]);
    expect(await invoke(target, { published: { kind: 'rejected', code: 'TooBig', message: 'too big' } })).toEqual({
      kind: 'failed',
      message: 'the bus refused it: too big',
    });
    await expect(invoke(target, { published: { kind: 'retry', code: 'ThrottlingException' } })).rejects.toMatchObject({
      name: 'RetryableError',
      reason: 'ThrottlingException',
    });
  });
});

it('a function that may not be called is named where the deployment takes its name', async () => {
  const refusal = { name: 'AccessDeniedException', $fault: 'client', $metadata: { httpStatusCode: 403 } };
  const invoke = createInvokeFunction({
    send: () => Promise.reject(Object.assign(new Error('not authorized'), refusal)),
  });
  expect(await invoke('drop-database', {})).toEqual({
    kind: 'failed',
    message: 'function drop-database cannot be run: AccessDeniedException: name it in hookFunctions of the deployment',
  });
});

it('a function whose name Lambda does not accept is a failure like any other', async () => {
  const message = "Value 'my function' at 'functionName' failed to satisfy constraint";
  const refusal = { name: 'ValidationException', $fault: 'client', $metadata: { httpStatusCode: 400 } };
  const invoke = createInvokeFunction({ send: () => Promise.reject(Object.assign(new Error(message), refusal)) });
  expect(await invoke('my function', {})).toEqual({
    kind: 'failed',
    message: 'function my function cannot be run: ValidationException',
  });
});
