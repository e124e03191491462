import { describe } from 'vitest';
import { createInbox } from '../../../runtime/inbox.ts';
import { createInboxes, createInProcessBus, createInProcessWakeUps } from '../../../runtime/in-process/messaging.ts';
import type { FunctionName } from '../../../shared/contract/names.ts';
import { minutes, toEpochMs } from '../../../shared/domain/time.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { defineEventBusContract } from '../../contract/event-bus.contract.ts';
import { defineWakeUpSenderContract } from '../../contract/wake-up-sender.contract.ts';

/** Inboxes of `repair` and `drain`. Time stands still, and `received` takes what is visible. */
function start() {
  const scheduler = createVirtualTime({ start: toEpochMs(0) });
  const inboxes = createInboxes(undefined);
  for (const name of ['repair', 'drain'] as const) {
    const settings = { visibilityTimeout: minutes(3), maxReceiveCount: 3 };
    const handlers = { consume: () => Promise.resolve(), bury: () => undefined };
    inboxes.byName.set(name, createInbox({ name, settings, scheduler, ...handlers }));
  }
  const taken = new Set<string>();
  const waiting = (name: FunctionName, isVisible: boolean) =>
    inboxes
      .of(name)
      .waiting()
      .filter(({ id, visibleTime }) => !taken.has(id) && visibleTime <= scheduler.now() === isVisible);
  return {
    scheduler,
    inboxes,
    async received(name: FunctionName) {
      const messages = waiting(name, true);
      for (const { id } of messages) taken.add(id);
      return messages.map(({ body }) => body);
    },
    delayed: async (name: FunctionName) => waiting(name, false).length,
  };
}

describe('WakeUpSender in this process', () => {
  defineWakeUpSenderContract(async () => {
    const { inboxes, received, delayed } = start();
    return { sender: createInProcessWakeUps(inboxes.deliver), received, delayed };
  });
});

describe('EventBus in this process', () => {
  defineEventBusContract(async () => {
    const { inboxes, scheduler, received } = start();
    return {
      bus: createInProcessBus({ cluster: 'prod', clock: scheduler, deliver: inboxes.deliver }),
      delivered: async () => (await received('repair')).map(body => JSON.parse(body)),
    };
  });
});
