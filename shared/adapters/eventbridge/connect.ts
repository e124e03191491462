/** `EventBus` with a client of its own. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { EventBus } from '../../ports/event-bus.ts';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';
import { createEventBus } from './event-bus.ts';

/** @param busName name or ARN */
export function connectEventBus(busName: string, endOfCalls?: EndOfCalls): EventBus {
  return createEventBus({ client: endingCalls(new EventBridgeClient(CLIENT_DEFAULTS), endOfCalls), busName });
}
