import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { CLIENT_DEFAULTS } from '../adapters/aws-errors.ts';
import { createEventBus } from '../adapters/eventbridge/event-bus.ts';
import { createHooks } from '../adapters/hooks/hooks.ts';
import { createInvokeFunction, INVOKE_CLIENT_DEFAULTS } from '../adapters/lambda/invoke-function.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { Hooks } from '../ports/hooks.ts';

/** For `createHandler(…, { hooks: awsHooks })`. In a file of its own, so that only bundles that ask for it carry the Lambda client. */
export function awsHooks(): Hooks {
  const busName = requireEnv(process.env, ENV.eventBusName);
  return createHooks({
    bus: createEventBus({ client: new EventBridgeClient(CLIENT_DEFAULTS), busName }),
    cluster: requireEnv(process.env, ENV.clusterName),
    invokeFunction: createInvokeFunction(new LambdaClient(INVOKE_CLIENT_DEFAULTS)),
  });
}
