import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe } from 'vitest';
import { z } from 'zod';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { startSqs, type LocalSqs } from '../../../../packages/local-aws/src/sqs.ts';
import { QUEUE_URL_IS_A_NAME } from '../../../../shared/adapters/sqs/connect.ts';
import { createDeadLetters } from '../../../../shared/adapters/sqs/dead-letters.ts';
import { FUNCTION_NAMES } from '../../../../shared/contract/names.ts';
import { defineDeadLettersContract } from '../../../contract/dead-letters.contract.ts';

const MODEL = { region: 'us-west-2', account: '000000000000' };
const attributesSchema = z.object({ function: z.enum(FUNCTION_NAMES), reason: z.string(), explanation: z.string() });

describe('DeadLetters on the local SQS', () => {
  let sqs: LocalSqs;
  let client: SQSClient;
  let queues = 0;
  beforeAll(async () => {
    sqs = await startSqs(MODEL);
    client = new SQSClient({
      endpoint: sqs.endpoint,
      region: MODEL.region,
      credentials: FAKE_CREDENTIALS,
      ...QUEUE_URL_IS_A_NAME,
    });
  });
  afterAll(async () => {
    client.destroy();
    await sqs.stop();
  });

  defineDeadLettersContract(async () => {
    const name = `dead-letters-${(queues += 1)}`;
    const queueUrl = `${sqs.endpoint}/${MODEL.account}/${name}`;
    await sqs.createQueues([{ name, arn: '', url: queueUrl, attributes: {} }]);
    return {
      deadLetters: createDeadLetters({ client, queueUrl }),
      async parked() {
        const { ready } = await sqs.inspect(name);
        return ready.map(({ body, attributes }) => ({ body, ...attributesSchema.parse(attributes) }));
      },
    };
  });
});
