/** The contracts of the ports on AWS, on moto. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe } from 'vitest';
import { createDueIndex, createRecordStore } from '../../shared/adapters/dynamodb/record-store.ts';
import { createEventBus } from '../../shared/adapters/eventbridge/event-bus.ts';
import { QUEUE_URL_IS_A_NAME } from '../../shared/adapters/sqs/connect.ts';
import { defineEventBusContract, WANTED_SOURCE } from '../contract/event-bus.contract.ts';
import { defineRecordStoreContract } from '../contract/record-store.contract.ts';
import { defineWakeUpSenderContract } from '../contract/wake-up-sender.contract.ts';
import { clientFor } from '../shared/adapters/dynamodb/stores.ts';
import { TABLE_INPUT, TABLE_NAME } from '../shared/adapters/dynamodb/table.ts';
import { receiveAll, wakeUpSubject } from '../shared/adapters/sqs/inboxes.ts';
import { reasonToSkip, startMoto, type Moto } from './install.ts';

const reason = reasonToSkip();

describe.skipIf(reason !== undefined)('on moto', () => {
  const options = { region: 'us-west-2', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  let moto: Moto;
  let sqs: SQSClient;
  let events: EventBridgeClient;
  let table: ReturnType<typeof clientFor>;

  beforeAll(async () => {
    moto = await startMoto();
    sqs = new SQSClient({ ...options, endpoint: moto.endpoint, ...QUEUE_URL_IS_A_NAME });
    events = new EventBridgeClient({ ...options, endpoint: moto.endpoint });
    table = clientFor(moto.endpoint);
    await table.send(new CreateTableCommand(TABLE_INPUT));
  });
  afterAll(async () => {
    for (const client of [sqs, events, table]) client?.destroy();
    await moto?.stop();
  });

  describe('RecordStore', () => {
    defineRecordStoreContract(
      'moto',
      async () => {
        const tableOf = { client: table, tableName: TABLE_NAME };
        return { records: createRecordStore(tableOf), dueIndex: createDueIndex(tableOf) };
      },
      { sizesInCharacters: true, room: 5120 },
    );
  });

  describe('WakeUpSender', () => {
    defineWakeUpSenderContract(() => wakeUpSubject(sqs));
  });

  describe('EventBus', () => {
    defineEventBusContract(async () => {
      const busName = 'contract';
      const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'contract' }));
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
      await events.send(new CreateEventBusCommand({ Name: busName })).catch(() => undefined);
      const EventPattern = JSON.stringify({ source: [WANTED_SOURCE] });
      await events.send(new PutRuleCommand({ Name: 'own', EventBusName: busName, EventPattern }));
      const Targets = [{ Id: 'queue', Arn: Attributes?.['QueueArn'] }];
      await events.send(new PutTargetsCommand({ Rule: 'own', EventBusName: busName, Targets }));
      return {
        bus: createEventBus({ client: events, busName }),
        delivered: async () => (await receiveAll(sqs, QueueUrl)).map(body => JSON.parse(body)),
      };
    });
  });
});
