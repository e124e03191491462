import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvokeFunction } from '../../../shared/adapters/lambda/invoke-function.ts';
import type { InvokeOutcome } from '../src/execution-environment.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { createAccess, type Credentials } from '../src/iam/access.ts';
import { policyDocumentSchema } from '../src/iam/statements.ts';
import { startLambdaEndpoint } from '../src/lambda-endpoint.ts';
import type { HttpServer } from '../src/loopback.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
const ROLE = `arn:aws:iam::${ACCOUNT}:role/FinalizerRole`;
const arnOf = (name: string): string => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;
const { Statement: statements } = policyDocumentSchema.parse({
  Statement: [{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: arnOf('cleanup') }],
});

const OUTCOMES: Readonly<Record<string, InvokeOutcome>> = {
  throws: { kind: 'failed', error: { errorType: 'TypeError', errorMessage: 'no such luck' } },
  slow: { kind: 'timedOut' },
  dies: { kind: 'crashed', how: 'signal SIGKILL' },
};

describe('Lambda', () => {
  const access = createAccess({ account: ACCOUNT, roles: [{ name: 'FinalizerRole', arn: ROLE, statements }] });
  const payloads: string[] = [];
  const clients: LambdaClient[] = [];
  let lambda: HttpServer;

  beforeAll(async () => {
    lambda = await startLambdaEndpoint({
      model: { region: REGION, account: ACCOUNT },
      access,
      invoke(name, payload) {
        if (name === 'cleanup') {
          payloads.push(payload);
          return Promise.resolve({ kind: 'answered', payload: '{"result":"succeed"}' });
        }
        const outcome = OUTCOMES[name];
        return outcome && Promise.resolve(outcome);
      },
    });
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await lambda.stop();
  });

  const as = (credentials: Credentials): LambdaClient => {
    const client = new LambdaClient({ endpoint: lambda.endpoint, region: REGION, credentials, maxAttempts: 1 });
    clients.push(client);
    return client;
  };

  it('runs a function by its name or ARN for who may, with the payload as it is', async () => {
    const invoke = createInvokeFunction(as(access.credentialsOf(ROLE)));
    for (const name of ['cleanup', arnOf('cleanup')]) {
      expect(await invoke(name, { key: 'a/ü' })).toEqual({ kind: 'returned', value: { result: 'succeed' } });
    }
    expect(payloads).toEqual(['{"key":"a/ü"}', '{"key":"a/ü"}']);
  });

  it('says what the function did as Lambda does', async () => {
    const invoke = createInvokeFunction(as(FAKE_CREDENTIALS));
    expect(await invoke('throws', {})).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('no such luck'),
    });
    expect(await invoke('slow', {})).toMatchObject({ kind: 'failed', message: expect.stringContaining('timed out') });
    expect(await invoke('dies', {})).toMatchObject({ kind: 'failed', message: expect.stringContaining('SIGKILL') });
    expect(await invoke('nobody', {})).toEqual({
      kind: 'failed',
      message: 'function nobody cannot be run: ResourceNotFoundException',
    });
  });

  it('takes an Event on, and says nothing of what becomes of it', async () => {
    const role = as(access.credentialsOf(ROLE));
    const answer = await role.send(new InvokeCommand({ FunctionName: 'cleanup', InvocationType: 'Event' }));
    expect(answer).toMatchObject({ StatusCode: 202 });
    expect(answer.FunctionError).toBeUndefined();
  });

  it('refuses what no statement allows, and what does not run here', async () => {
    const role = as(access.credentialsOf(ROLE));
    await expect(role.send(new InvokeCommand({ FunctionName: 'slow' }))).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(`lambda:InvokeFunction on resource: ${arnOf('slow')}`),
    });
    await expect(
      role.send(new InvokeCommand({ FunctionName: 'cleanup', InvocationType: 'DryRun' })),
    ).rejects.toMatchObject({ name: 'InvalidParameterValueException' });
    await expect(
      as({ accessKeyId: 'nobody', secretAccessKey: 'x' }).send(new InvokeCommand({ FunctionName: 'cleanup' })),
    ).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
  });
});
