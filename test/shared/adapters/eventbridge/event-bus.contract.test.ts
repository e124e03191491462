import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { describe, onTestFinished } from 'vitest';
import { startEventBus } from '../../../../packages/local-aws/src/event-bus.ts';
import { FAKE_CREDENTIALS } from '../../../../packages/local-aws/src/fake-credentials.ts';
import { createEventBus } from '../../../../shared/adapters/eventbridge/event-bus.ts';
import { defineEventBusContract, WANTED_SOURCE } from '../../../contract/event-bus.contract.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';

describe('EventBus on the local bus', () => {
  defineEventBusContract(async () => {
    const events: { 'detail-type'?: string; detail?: unknown }[] = [];
    const own = {
      name: 'own',
      arn: 'own',
      busName: 'contract',
      pattern: { source: [WANTED_SOURCE] },
      targets: [{ queueName: 'contract', deadLetterQueueName: undefined }],
    };
    const server = await startEventBus({
      model: { region: 'us-west-2', account: '000000000000', buses: ['contract'], rules: [own] },
      clock: createManualClock(),
      send: async (_, body) => void events.push(JSON.parse(body)),
    });
    const client = new EventBridgeClient({
      endpoint: server.endpoint,
      region: 'us-west-2',
      credentials: FAKE_CREDENTIALS,
    });
    onTestFinished(async () => {
      client.destroy();
      await server.stop();
    });
    return { bus: createEventBus({ client, busName: 'contract' }), delivered: async () => events.splice(0) };
  });
});
