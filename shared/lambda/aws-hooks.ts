import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { CLIENT_DEFAULTS } from '../adapters/aws-errors.ts';
import { createEventBus } from '../adapters/eventbridge/event-bus.ts';
import { createHooks } from '../adapters/hooks/hooks.ts';
import { createInvokeFunction } from '../adapters/lambda/invoke-function.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import type { Hooks } from '../ports/hooks.ts';

/** How long a hook's function may take before its call is repeated with the same key; the caller itself has 30 s. */
const INVOKE_TIMEOUT_MS = 15_000;

/** For `createHandler(…, { hooks: awsHooks })`. In a file of its own, so that only bundles that ask for it carry the Lambda client. */
export function awsHooks(): Hooks {
  const lambda = new LambdaClient({
    ...CLIENT_DEFAULTS,
    // A repeated call runs the function again: the hook's own retry does that, and notes it down.
    maxAttempts: 1,
    requestHandler: { ...CLIENT_DEFAULTS.requestHandler, requestTimeout: INVOKE_TIMEOUT_MS },
  });
  return createHooks({
    bus: createEventBus({
      client: new EventBridgeClient(CLIENT_DEFAULTS),
      busName: requireEnv(process.env, ENV.eventBusName),
    }),
    cluster: requireEnv(process.env, ENV.clusterName),
    invokeFunction: createInvokeFunction(lambda),
  });
}
