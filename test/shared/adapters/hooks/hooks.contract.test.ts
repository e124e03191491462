import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe } from 'vitest';
import { z } from 'zod';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { startLambdaEndpoint } from '../../../../packages/local-aws/src/lambda-endpoint.ts';
import type { HttpServer } from '../../../../packages/local-aws/src/loopback.ts';
import { createHooks } from '../../../../shared/adapters/hooks/hooks.ts';
import { createInvokeFunction, INVOKE_CLIENT_DEFAULTS } from '../../../../shared/adapters/lambda/invoke-function.ts';
import { defineHooksContract } from '../../../contract/hooks.contract.ts';

const callSchema = z.object({ key: z.string(), hook: z.string().optional() });

describe('Hooks on the local Lambda', () => {
  /** What the function answers, by whether it is called as a hook. */
  const payloads = new Map<boolean, string>();
  const keys: string[] = [];
  let lambda: HttpServer;
  let client: LambdaClient;
  beforeAll(async () => {
    lambda = await startLambdaEndpoint({
      model: { region: 'us-east-1', account: '000000000000' },
      access: { check: () => undefined },
      invoke(_, text) {
        const { key, hook } = callSchema.parse(JSON.parse(text));
        keys.push(key);
        const payload = payloads.get(hook !== undefined);
        return payload === undefined ? undefined : Promise.resolve({ kind: 'answered', payload });
      },
    });
    client = new LambdaClient({
      ...INVOKE_CLIENT_DEFAULTS,
      endpoint: lambda.endpoint,
      region: 'us-east-1',
      credentials: FAKE_CREDENTIALS,
    });
  });
  afterAll(async () => {
    client.destroy();
    await lambda.stop();
  });

  defineHooksContract(() => {
    const succeeds = JSON.stringify({ result: 'succeed' });
    payloads.set(true, succeeds).set(false, succeeds);
    keys.length = 0;
    return {
      hooks: createHooks({
        bus: { publish: () => Promise.reject(new Error('no hook is an event here')) },
        cluster: 'prod',
        invokeFunction: createInvokeFunction(client),
      }),
      answers(purpose, said, message = '') {
        const result = said === 'silent' ? 'pending' : said;
        payloads.set(purpose === 'hook', JSON.stringify({ result, message }));
      },
      refuses: purpose => void payloads.delete(purpose === 'hook'),
      keys: () => keys,
    };
  });
});
