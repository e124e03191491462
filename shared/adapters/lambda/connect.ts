/** `InvokeFunction` with a client of its own. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';
import type { InvokeFunction } from '../hooks/hooks.ts';
import { createInvokeFunction, INVOKE_CLIENT_DEFAULTS } from './invoke-function.ts';

export function connectInvokeFunction(endOfCalls?: EndOfCalls): InvokeFunction {
  return createInvokeFunction(endingCalls(new LambdaClient(INVOKE_CLIENT_DEFAULTS), endOfCalls));
}
