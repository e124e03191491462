/** Lambda's `Invoke` for the unchanged SDK, for functions that others call by name: synchronous ones, and `Event`, whose answer nobody gets. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { InvokeOutcome } from './execution-environment.ts';
import type { Access } from './iam/access.ts';
import { toRestError } from './iam/refusals.ts';
import { serveHttp, type HttpServer } from './loopback.ts';
import type { AwsModel } from './model.ts';

export interface LambdaEndpointOptions {
  readonly model: Pick<AwsModel, 'region' | 'account'>;
  readonly access: Pick<Access, 'check'>;
  /** Undefined: there is no such function. */
  readonly invoke: (functionName: string, payload: string) => Promise<InvokeOutcome> | undefined;
}

const PATH = /^\/2015-03-31\/functions\/([^/?]+)\/invocations$/;

/**
 * Listens on the loopback interface, on a free port. A function that failed answers 200 with `x-amz-function-error`, as
 * Lambda does.
 */
export async function startLambdaEndpoint(options: LambdaEndpointOptions): Promise<HttpServer> {
  const { model, access, invoke } = options;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const payload = await text(request);
    const refuse = (status: number, code: string, message: string): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': code });
      response.end(JSON.stringify({ Type: 'User', Message: message }));
    };
    const [, encoded] = PATH.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || encoded === undefined) {
      return refuse(404, 'UnknownOperationException', `${request.method} ${request.url} does not run locally`);
    }
    // A function may be given by its ARN.
    const name = decodeURIComponent(encoded).replace(/^arn:.*:function:/, '');
    const resource = `arn:aws:lambda:${model.region}:${model.account}:function:${name}`;
    const refusal = access.check(request.headers.authorization, [
      { action: 'lambda:InvokeFunction', resource, context: {} },
    ]);
    if (refusal !== undefined) {
      const { status, code, message } = toRestError(refusal);
      return refuse(status, code, message);
    }
    const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type !== 'RequestResponse' && type !== 'Event') {
      return refuse(400, 'InvalidParameterValueException', `invocations of type ${String(type)} do not run locally`);
    }
    const invoked = invoke(name, payload === '' ? '{}' : payload);
    if (invoked === undefined) return refuse(404, 'ResourceNotFoundException', `Function not found: ${resource}`);
    if (type === 'Event') {
      response.writeHead(202, HEADERS).end();
      await invoked;
    } else answer(response, await invoked);
  }

  return serveHttp(handle);
}

const HEADERS = { 'content-type': 'application/json', 'x-amz-executed-version': '$LATEST' };

function answer(response: ServerResponse, outcome: InvokeOutcome): void {
  if (outcome.kind === 'answered') {
    response.writeHead(200, HEADERS).end(outcome.payload);
    return;
  }
  // The call itself succeeded: what the function did is in the payload.
  response.writeHead(200, { ...HEADERS, 'x-amz-function-error': 'Unhandled' }).end(JSON.stringify(toError(outcome)));
}

function toError(outcome: Exclude<InvokeOutcome, { kind: 'answered' }>): object {
  switch (outcome.kind) {
    case 'failed':
      return outcome.error;
    case 'timedOut':
      return { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' };
    case 'crashed':
      return { errorType: 'Runtime.ExitError', errorMessage: `Runtime exited: ${outcome.how}` };
  }
}
