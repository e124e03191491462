/** The webhook by which the API server learns whose token it is, as on EKS: a function's token is traced back to its role and access entry. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import type { UserInfo } from '../../../packages/kube-apiserver/src/authorization/attributes.ts';
import { serveHttp } from '../../../packages/local-aws/src/loopback.ts';

const reviewSchema = z.object({ apiVersion: z.string(), kind: z.string(), spec: z.object({ token: z.string() }) });

export interface TokenReviews {
  /** For kube-apiserver. */
  readonly flags: readonly string[];
  /** Nobody is known before. */
  know(userOf: (token: string) => UserInfo | undefined): void;
  stop(): Promise<void>;
}

/** @param folder for a file that names the webhook */
export async function serveTokenReviews(folder: string): Promise<TokenReviews> {
  let userOf: (token: string) => UserInfo | undefined = () => undefined;
  const server = await serveHttp(async (request, response) => {
    const { apiVersion, kind, spec } = reviewSchema.parse(await json(request));
    const user = userOf(spec.token);
    const status =
      user === undefined
        ? { authenticated: false }
        : { authenticated: true, user: { username: user.name, uid: user.name, groups: user.groups } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion, kind, status }));
  });
  const file = join(folder, 'token-reviews.json');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'reviews', cluster: { server: server.endpoint } }],
    users: [{ name: 'kube-apiserver', user: {} }],
    contexts: [{ name: 'reviews', context: { cluster: 'reviews', user: 'kube-apiserver' } }],
    'current-context': 'reviews',
  };
  writeFileSync(file, JSON.stringify(config));
  return {
    flags: [`--authentication-token-webhook-config-file=${file}`, '--authentication-token-webhook-version=v1'],
    know(known) {
      userOf = known;
    },
    stop: server.stop,
  };
}
