import { createHooks } from '../adapters/hooks/hooks.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { Hooks } from '../ports/hooks.ts';
import { awsBus } from './aws-bus.ts';
import { endOfCalls } from './run-time.ts';
import { whenNeeded } from './when-needed.ts';

/** For `createHandler(…, { others: { hooks: awsHooks } })`. The Lambda client is loaded when a function is first invoked. */
export function awsHooks(): Hooks {
  const connected = whenNeeded('the Lambda client', async () => {
    const { connectInvokeFunction } = await import('../adapters/lambda/connect.ts');
    return connectInvokeFunction(endOfCalls);
  });
  return createHooks({
    bus: awsBus(requireEnv(process.env, ENV.eventBusName)),
    cluster: requireEnv(process.env, ENV.clusterName),
    invokeFunction: async (functionName, payload) => (await connected())(functionName, payload),
  });
}
