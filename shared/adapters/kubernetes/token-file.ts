/** Tokens that a kubeconfig names by a file (`users[].user.tokenFile`), which the library does not know. Read again each time: they rotate. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { z } from 'zod';
import { parseUsers } from './kubeconfig-users.ts';

type KubeConfigAuthenticator = Parameters<KubeConfig['addAuthenticator']>[0];

const fields = z.object({ tokenFile: z.string().optional() });

/** A path in a kubeconfig is relative to its folder; the file wins over `token`, as with client-go. */
export function takeTokenFiles(config: KubeConfig, file: string): void {
  const parsed = parseUsers(file, fields);
  const files = new Map(
    (parsed.data?.users ?? []).flatMap(({ name, user }) =>
      user?.tokenFile === undefined ? [] : [[name, resolve(dirname(file), user.tokenFile)]],
    ),
  );
  config.users = config.users.map(({ token, ...user }) =>
    token === undefined || files.has(user.name) ? user : { ...user, token },
  );
  config.addAuthenticator(createTokenFiles(files));
}

const createTokenFiles = (files: ReadonlyMap<string, string>): KubeConfigAuthenticator => ({
  isAuthProvider: ({ name }: User) => files.has(name),
  async applyAuthentication({ name }, options) {
    const token = (await readFile(files.get(name) ?? '', 'utf8')).trim();
    options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
  },
});
