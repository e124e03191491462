/**
 * AWS Signature Version 4 for calls of DynamoDB: a POST of `/` with its whole body. It gives what `@smithy/signature-v4` gives (its test compares
 * the two) for a quarter of the instructions, which were a quarter of a call; that one signs any request of any service.
 * Protocol: IAM user guide, "Create a signed AWS API request".
 */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { invariant } from '../../errors.ts';

type Signer = Extract<NonNullable<DynamoDBClientConfig['signer']>, { readonly sign: unknown }>;
type Config = DynamoDBClient['config'];

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** Made by the signer; a request that is sent again brings them along. */
const GENERATED = new Set(['authorization', 'x-amz-date', 'date']);
/** Proxies and the client itself may change these on the way. */
const NOT_SIGNED =
  /^(?:authorization|cache-control|connection|expect|from|keep-alive|max-forwards|pragma|referer|te|trailer|transfer-encoding|upgrade|user-agent|x-amzn-trace-id|proxy-.*|sec-.*)$/;

/**
 * @param credentials asked for each request: they change
 * @param region of requests for which the client names none
 */
export function createSigner(
  credentials: () => ReturnType<Config['credentials']>,
  region: () => ReturnType<Config['region']>,
): Signer {
  let kept: { readonly secret: string; readonly scope: string; readonly key: KeyObject } | undefined;
  const keyOf = (secret: string, scope: string): KeyObject => {
    // One key a day.
    if (kept === undefined || kept.secret !== secret || kept.scope !== scope) {
      const bytes = scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secret}`));
      // As bytes it would be asked each time whether it is a key, and Node makes an Error for each no.
      kept = { secret, scope, key: createSecretKey(bytes) };
    }
    return kept.key;
  };

  return {
    async sign(request, { signingDate = new Date(), signingRegion } = {}) {
      const { method, path, query, body } = request;
      const isPlain = method === 'POST' && path === '/' && Object.keys(query ?? {}).length === 0;
      invariant(isPlain && isSent(body), 'a call of DynamoDB is a POST to / with its whole body');
      const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
      const date = toBasicTime(signingDate);
      const scope = `${date.slice(0, 8)}/${signingRegion ?? (await region())}/dynamodb/aws4_request`;
      const payloadHash = hash('sha256', body, 'hex');
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(request.headers)) {
        if (!GENERATED.has(name.toLowerCase())) headers[name] = value;
      }
      headers['x-amz-date'] = date;
      headers['x-amz-content-sha256'] ??= payloadHash;
      if (sessionToken !== undefined && sessionToken !== '') headers['x-amz-security-token'] = sessionToken;

      const signed = Object.entries(headers)
        .map(([name, value]) => [name.toLowerCase(), value] as const)
        .filter(([name]) => !NOT_SIGNED.test(name))
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
      const lines = signed.map(([name, value]) => `${name}:${value.replace(/\s+/g, ' ').trim()}\n`).join('');
      const names = signed.map(([name]) => name).join(';');
      const canonical = hash('sha256', `POST\n/\n\n${lines}\n${names}\n${headers['x-amz-content-sha256']}`, 'hex');
      const signature = hmac(keyOf(secretAccessKey, scope), `${ALGORITHM}\n${date}\n${scope}\n${canonical}`);
      headers['authorization'] =
        `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature.toString('hex')}`;
      return { ...request, headers };
    },
  };
}

const isSent = (body: unknown): body is string | Uint8Array => typeof body === 'string' || body instanceof Uint8Array;

const hmac = (key: Buffer | KeyObject, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** ISO 8601 without separators, in whole seconds: `20261122T030000Z`. */
function toBasicTime(time: Date | number | string): string {
  return `${new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
