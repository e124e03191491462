/**
 * The Lambda Runtime API for one execution environment: hands out one invocation at a time and takes its answer. Protocol: Lambda developer guide,
 * "Using the Lambda runtime API".
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listen, LOOPBACK } from './loopback.ts';

const PREFIX = '/2018-06-01/runtime';

/** What a function throws, as the runtime reports it. */
export interface ReportedError {
  readonly errorType: string;
  readonly errorMessage: string;
}

export interface RuntimeApiEvents {
  /** The runtime has started and waits, or has finished an invocation and waits again. */
  onIdle(): void;
  onAnswer(requestId: string, payload: string): void;
  onError(requestId: string, error: ReportedError): void;
  /** The bundle could not be loaded; the process ends by itself. */
  onInitError(error: ReportedError): void;
}

export interface RuntimeApi {
  /** `host:port`, for `AWS_LAMBDA_RUNTIME_API`. */
  readonly address: string;
  /** To be called when idle only. */
  deliver(invocation: { requestId: string; payload: string; deadlineMs: number; functionArn: string }): void;
  stop(): Promise<void>;
}

/** Listens on the loopback interface, on a free port. */
export async function startRuntimeApi(events: RuntimeApiEvents): Promise<RuntimeApi> {
  let waiting: ServerResponse | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (method === 'GET' && url === `${PREFIX}/invocation/next`) {
      waiting = response;
      return events.onIdle();
    }
    const body = await text(request);
    const [, requestId, what] = /^\/2018-06-01\/runtime\/invocation\/([^/]+)\/(response|error)$/.exec(url) ?? [];
    if (method !== 'POST' || (requestId === undefined && url !== `${PREFIX}/init/error`)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
    if (requestId === undefined) events.onInitError(parseError(body));
    else if (what === 'response') events.onAnswer(requestId, body);
    else events.onError(requestId, parseError(body));
  }

  const server = createServer((request, response) => {
    // A connection that breaks is a process that ends, which is noticed there.
    handle(request, response).catch(() => response.destroy());
  });
  // A long poll of hours is normal here.
  server.requestTimeout = 0;
  const port = await listen(server);
  return {
    address: `${LOOPBACK}:${port}`,
    deliver({ requestId, payload, deadlineMs, functionArn }) {
      const response = waiting;
      waiting = undefined;
      if (response === undefined) throw new Error('the runtime is not idle');
      response.writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': requestId,
        'lambda-runtime-deadline-ms': String(deadlineMs),
        'lambda-runtime-invoked-function-arn': functionArn,
        'lambda-runtime-trace-id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
      });
      response.end(payload);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

const errorSchema = z.object({ errorType: z.string(), errorMessage: z.string() });

function parseError(body: string): ReportedError {
  try {
    return errorSchema.parse(JSON.parse(body));
  } catch {
    return { errorType: 'Unknown', errorMessage: body };
  }
}
