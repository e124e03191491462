import { SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs, type FauxqsServer } from 'fauxqs';
import { afterAll, beforeAll, describe } from 'vitest';
import { QUEUE_URL_IS_A_NAME } from '../../../../shared/adapters/sqs/connect.ts';
import { defineWakeUpSenderContract } from '../../../contract/wake-up-sender.contract.ts';
import { wakeUpSubject } from './inboxes.ts';

describe('WakeUpSender on fauxqs', () => {
  let server: FauxqsServer;
  let client: SQSClient;
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, logger: false });
    client = new SQSClient({
      endpoint: `http://127.0.0.1:${server.port}`,
      region: 'us-west-2',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      ...QUEUE_URL_IS_A_NAME,
    });
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });
  defineWakeUpSenderContract(() => wakeUpSubject(client));
});
