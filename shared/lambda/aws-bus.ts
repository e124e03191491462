import type { EventBus } from '../ports/event-bus.ts';
import { endOfCalls } from './run-time.ts';
import { whenNeeded } from './when-needed.ts';

/** EventBridge, whose client is loaded when something is first published. */
export function awsBus(busName: string): EventBus {
  const connected = whenNeeded('the EventBridge client', async () => {
    const { connectEventBus } = await import('../adapters/eventbridge/connect.ts');
    return connectEventBus(busName, endOfCalls);
  });
  return { publish: async entries => (await connected()).publish(entries) };
}
