/** `EventBus` with a client of its own: only what publishes loads this file. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { EventBus } from '../../ports/event-bus.ts';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { createEventBus } from './event-bus.ts';

/** @param busName name or ARN */
export function connectEventBus(busName: string): EventBus {
  return createEventBus({ client: new EventBridgeClient(CLIENT_DEFAULTS), busName });
}
