import { connectEventBus } from '../adapters/eventbridge/connect.ts';
import { createHooks } from '../adapters/hooks/hooks.ts';
import { connectInvokeFunction } from '../adapters/lambda/connect.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { Hooks } from '../ports/hooks.ts';
import { endOfCalls } from './run-time.ts';

/** For `createHandler(…, { others: { hooks: awsHooks } })`. */
export function awsHooks(): Hooks {
  return createHooks({
    bus: connectEventBus(requireEnv(process.env, ENV.eventBusName), endOfCalls),
    cluster: requireEnv(process.env, ENV.clusterName),
    invokeFunction: connectInvokeFunction(endOfCalls),
  });
}
