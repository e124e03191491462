/** Runs a Lambda function and waits for its answer, or only hands it over (`InvocationType` `Event`). */
import { cutText } from '../../domain/cut-text.ts';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { TerminalError } from '../../errors.ts';
import { awsErrorCode, CLIENT_DEFAULTS, fromAwsError, INVOKE_TIMEOUT } from '../aws-errors.ts';
import type { InvokeFunction } from '../hooks/hooks.ts';

/** The settings of a client that invokes functions. */
export const INVOKE_CLIENT_DEFAULTS = {
  ...CLIENT_DEFAULTS,
  // A repeated call runs the function again: the caller's own retry does that, and notes it down.
  maxAttempts: 1,
  requestHandler: {
    ...CLIENT_DEFAULTS.requestHandler,
    requestTimeout: INVOKE_TIMEOUT,
    // A kept connection may have died while the environment was frozen, and there is no second try. Hooks are few.
    httpAgent: { keepAlive: false },
    httpsAgent: { keepAlive: false },
  },
};

/** Here as well it is the function that cannot be run as things are, and not something of ours that is missing. */
const UNUSABLE_CODES: ReadonlySet<string> = new Set(['ResourceNotFoundException', 'AccessDeniedException']);

/** The function's own errors and time-outs are `failed`; what the Lambda service could not do throws `RetryableError`. */
export function createInvokeFunction(client: Pick<LambdaClient, 'send'>): InvokeFunction {
  return async (functionName, payload, { takenOnWithin } = {}) => {
    const isHandedOver = takenOnWithin !== undefined;
    const doing = `invoking function ${functionName}`;
    let answer;
    try {
      answer = await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          Payload: Buffer.from(JSON.stringify(payload)),
          ...(isHandedOver && { InvocationType: 'Event' }),
        }),
        ...(isHandedOver ? [{ abortSignal: AbortSignal.timeout(takenOnWithin) }] : []),
      );
    } catch (error) {
      const code = awsErrorCode(error) ?? 'Unknown';
      const failure = fromAwsError(error, { doing, write: true });
      if (!(failure instanceof TerminalError) && !UNUSABLE_CODES.has(code)) throw failure;
      // Said where its user looks, and tried again as a failure.
      const advice = code === 'AccessDeniedException' ? ': name it in hookFunctions of the deployment' : '';
      return { kind: 'failed', message: `function ${functionName} cannot be run: ${code}${advice}` };
    }
    if (isHandedOver) return { kind: 'takenOn' };
    // The SDK says null of an answer without a body.
    const text = Buffer.from(answer.Payload ?? []).toString('utf8');
    if (answer.FunctionError !== undefined) {
      return { kind: 'failed', message: `function ${functionName} failed: ${cutText(text)}` };
    }
    try {
      return { kind: 'returned', value: JSON.parse(text) as unknown };
    } catch {
      return {
        kind: 'failed',
        message: `function ${functionName} answered what is not JSON: ${cutText(text)}`,
      };
    }
  };
}
