/** Access to DynamoDB: a proxy that asks before it passes a call on. When the server behind it is gone, connections break as its own would. */
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { serveHttp, type HttpServer } from '../loopback.ts';
import type { AwsModel } from '../model.ts';
import type { Access } from './access.ts';
import { toDynamoDbRequest } from './dynamodb-requests.ts';
import { toJsonError } from './refusals.ts';

export interface DynamoDbGuardOptions {
  /** Endpoint of the server. */
  readonly upstream: string;
  readonly model: Pick<AwsModel, 'region' | 'account' | 'tables'>;
  readonly access: Pick<Access, 'check'>;
}

/** Listens on the loopback interface, on a free port. A refused call never reaches the server. */
export async function guardDynamoDb({ upstream, model, access }: DynamoDbGuardOptions): Promise<HttpServer> {
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const target = String(request.headers['x-amz-target'] ?? '');
    const refusal = access.check(request.headers.authorization, [
      toDynamoDbRequest(target, parseJson(body.toString()), model),
    ]);
    if (refusal !== undefined) {
      const { status, code, message } = toJsonError(refusal);
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message }));
      return;
    }
    const answer = await forward(request, body);
    const answered = await readAll(answer);
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders).end(answered);
  }

  const { hostname, port: upstreamPort } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });

  function forward(
    { method, url: path = '/', rawHeaders: headers }: IncomingMessage,
    body: Buffer,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const passed = httpRequest({ hostname, port: upstreamPort, agent, method, path, headers }, resolve);
      passed.once('error', reject);
      passed.end(body);
    });
  }

  const { endpoint, stop } = await serveHttp(handle);
  return {
    endpoint,
    async stop() {
      agent.destroy();
      await stop();
    },
  };
}

/** By its events: `node:stream/consumers` costs more than a small call of DynamoDB. */
function readAll(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.once('end', () => resolve(Buffer.concat(chunks)));
    message.once('error', reject);
    message.once('close', () => {
      // An Error takes its stack when it is made, which costs more than to ask.
      if (!message.readableEnded) reject(new Error('the connection was closed'));
    });
  });
}

/** What cannot be read names no table; the server says what is wrong with it to who may call at all. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
