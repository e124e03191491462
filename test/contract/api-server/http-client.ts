/** A bare HTTP client for an API server: what a test sends is what goes out, what it gets is what came. Nothing is interpreted. */
import http from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** Content types of the patches. */
export const PATCH = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export interface HttpClientOptions {
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca?: string;
  readonly token?: string;
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  /** Made as somebody else: the caller must be allowed to impersonate. */
  readonly as?: { readonly user: string; readonly groups?: readonly string[] };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON; throws for text that is none. */
  readonly body: unknown;
}

const watchLine = z.object({ type: z.string(), object: z.unknown() });
export type WatchLine = z.infer<typeof watchLine>;

export interface HttpClient {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The lines of a watch until the server ends it, or the reader leaves. Throws for any other answer than 200. */
  watch(path: string, query: CallOptions['query'], as?: CallOptions['as']): AsyncGenerator<WatchLine>;
  close(): void;
}

export function createHttpClient({ url, ca, token }: HttpClientOptions): HttpClient {
  const secure = url.startsWith('https:');
  const agent = secure ? new https.Agent({ keepAlive: true, ca }) : new http.Agent({ keepAlive: true });

  function send(method: string, path: string, options: CallOptions): Promise<http.IncomingMessage> {
    const { query = {}, body, type = 'application/json', accept = 'application/json', as } = options;
    const target = new URL(path, url);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      accept,
      'user-agent': 'contract',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(as !== undefined && { 'impersonate-user': as.user }),
      ...(as?.groups !== undefined && { 'impersonate-group': [...as.groups] }),
      ...(payload !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
    };
    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request(target, { method, headers, agent }, resolve);
      request.on('error', reject).end(payload);
    });
  }

  return {
    async call(method, path, options = {}) {
      const response = await send(method, path, options);
      const content = await text(response);
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: content,
        get body(): unknown {
          return JSON.parse(content);
        },
      };
    },
    async *watch(path, query, as) {
      const response = await send('GET', path, { query: { ...query, watch: true }, ...(as && { as }) });
      if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${await text(response)}`);
      try {
        for await (const line of createInterface({ input: response })) yield watchLine.parse(JSON.parse(line));
      } finally {
        response.destroy();
      }
    },
    close: () => agent.destroy(),
  };
}
