import { connectEventBus } from '../../shared/adapters/eventbridge/connect.ts';
import { createHooks } from '../../shared/adapters/hooks/hooks.ts';
import { connectInvokeFunction } from '../../shared/adapters/lambda/connect.ts';
import { ENV, requireEnv } from '../../shared/contract/env.ts';
import type { Hooks } from '../../shared/ports/hooks.ts';
import { endOfCalls } from '../../shared/lambda/run-time.ts';

/** Connects the hooks to AWS, for `createHandler(…, { otherAdapters: { hooks: awsHooks } })`. */
export function awsHooks(): Hooks {
  return createHooks({
    bus: connectEventBus(requireEnv(process.env, ENV.eventBusName), endOfCalls),
    cluster: requireEnv(process.env, ENV.clusterName),
    invokeFunction: connectInvokeFunction(endOfCalls),
  });
}
