/**
 * The bearer token that an EKS cluster accepts from an IAM principal: a presigned `sts:GetCallerIdentity` request. Signing is
 * local, STS is asked by the control plane.
 */
import { createHash, createHmac } from 'node:crypto';
import { partition } from '@aws-sdk/core/client';
import { SignatureV4, type SignatureV4Init } from '@smithy/signature-v4';
import { addDuration, isDue, minutes, type EpochMs } from '../../domain/time.ts';
import { messageOf, RetryableError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Authenticator } from './transport.ts';

const TOKEN_PREFIX = 'k8s-aws-v1.';
const CLUSTER_ID_HEADER = 'x-k8s-aws-id';
/**
 * The expiry that the authenticator insists on seeing in the URL; it accepts the token for 15 minutes from `X-Amz-Date`
 * anyway.
 */
const URL_EXPIRY_SECONDS = 60;
/** Well inside those 15 minutes, so that a token in use never ends in the middle of a call. */
const TOKEN_LIFE = minutes(10);

export interface EksTokenOptions {
  readonly clusterName: string;
  readonly region: string;
  readonly credentials: SignatureV4Init['credentials'];
  readonly clock: Clock;
}

/** Signs one token, dated `now`. */
export async function signEksToken(options: Omit<EksTokenOptions, 'clock'>, now: EpochMs): Promise<string> {
  const hostname = `sts.${options.region}.${partition(options.region).dnsSuffix}`;
  const signer = new SignatureV4({
    service: 'sts',
    region: options.region,
    credentials: options.credentials,
    sha256: NodeSha256,
  });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      headers: { host: hostname, [CLUSTER_ID_HEADER]: options.clusterName },
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
    },
    {
      expiresIn: URL_EXPIRY_SECONDS,
      signingDate: new Date(now),
      // The cluster name must be signed as a header, not moved into the query: it is what binds the token to one cluster.
      unhoistableHeaders: new Set([CLUSTER_ID_HEADER]),
      signableHeaders: new Set(['host', CLUSTER_ID_HEADER]),
    },
  );
  const query = Object.entries(signed.query ?? {})
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  return TOKEN_PREFIX + Buffer.from(`https://${hostname}/?${query}`).toString('base64url');
}

/** Signs a token when one is needed and keeps it for `TOKEN_LIFE`. */
export function createEksAuthenticator(options: EksTokenOptions): Authenticator {
  let cached: { readonly token: string; readonly expires: EpochMs } | undefined;
  return {
    async headers() {
      const now = options.clock.now();
      if (cached === undefined || isDue(now, cached.expires)) {
        cached = { token: await sign(options, now), expires: addDuration(now, TOKEN_LIFE) };
      }
      return { authorization: `Bearer ${cached.token}` };
    },
    invalidate() {
      cached = undefined;
    },
  };
}

async function sign(options: EksTokenOptions, now: EpochMs): Promise<string> {
  try {
    return await signEksToken(options, now);
  } catch (error) {
    // The credentials could not be fetched; signing itself is arithmetic.
    throw new RetryableError(`signing an EKS token: ${messageOf(error)}`, { cause: error, reason: 'Credentials' });
  }
}

/** `node:crypto` in the shape the signer wants, to carry no hash implementation in the bundle. */
class NodeSha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
