/**
 * Impersonation settings of a kubeconfig: `as-uid`, `as-groups` and `as-user-extra` of the user. The library knows `as`
 * alone.
 */
import type { User } from '@kubernetes/client-node';
import { z } from 'zod';
import { ClusterAccessError } from './check-context.ts';
import { parseUsers } from './kubeconfig-users.ts';

const fields = z.object({
  'as-uid': z.string().optional(),
  'as-groups': z.array(z.string()).optional(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).optional(),
});

/** The header lines that say it. Throws `ClusterAccessError` where nobody is named to act as, which the API server refuses. */
export function impersonationOf(
  file: string,
  { name, impersonateUser }: Pick<User, 'name' | 'impersonateUser'>,
): Readonly<Record<string, readonly string[]>> {
  const parsed = parseUsers(file, fields);
  if (!parsed.success) {
    const { path = [] } = parsed.error.issues[0] ?? {};
    throw new ClusterAccessError(`kubeconfig ${file}: ${path.join('.')} is not as kubectl takes it`);
  }
  const user = parsed.data.users.find(each => each.name === name)?.user ?? {};
  const { 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = user;
  const headers = {
    ...(uid !== undefined && { 'impersonate-uid': [uid] }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    // As client-go: the key may have characters that a header's name may not.
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key)}`, values]),
    ),
  };
  if (Object.keys(headers).length > 0 && !impersonateUser) {
    throw new ClusterAccessError(
      `kubeconfig ${file}: user ${name} has as-uid, as-groups or as-user-extra without as, which names the user`,
    );
  }
  return headers;
}
