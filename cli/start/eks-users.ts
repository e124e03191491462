/**
 * The user of an EKS token, as the cluster's authenticator knows it: access key → IAM role → access entry → Kubernetes
 * groups.
 */
import type { UserInfo } from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import type { LocalAws } from '../../packages/local-aws/src/stack.ts';

/**
 * The most tokens that are remembered, as an API server's authenticator does it; a function shows a new one every few
 * minutes.
 */
const REMEMBERED_MAX = 100;

/** `eksUserOf` with a memory. */
export function createEksUsers(aws: Parameters<typeof eksUserOf>[1]): (token: string) => UserInfo | undefined {
  const known = new Map<string, UserInfo>();
  return token => {
    const before = known.get(token);
    if (before !== undefined) return before;
    const user = eksUserOf(token, aws);
    if (user === undefined) return undefined;
    const [oldest] = known.keys();
    if (known.size === REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
    known.set(token, user);
    return user;
  };
}

const TOKEN = /^k8s-aws-v1\.([\w-]+)$/;

/**
 * `curfew-NAME` for the role of function NAME, with the groups of its access entry. Undefined for any other token, and for a role that
 * has no access entry. What the token signs is not verified: keys are given out by this process.
 */
function eksUserOf(token: string, { model, roleOf }: Pick<LocalAws, 'model' | 'roleOf'>): UserInfo | undefined {
  const [, encoded] = TOKEN.exec(token) ?? [];
  const url = encoded === undefined ? undefined : URL.parse(Buffer.from(encoded, 'base64url').toString());
  const [accessKeyId = ''] = url?.searchParams.get('X-Amz-Credential')?.split('/') ?? [];
  const roleArn = roleOf(accessKeyId);
  const entry = model.accessEntries.find(each => each.roleArn === roleArn);
  const fn = model.functions.find(each => each.roleArn === roleArn);
  if (entry === undefined || fn === undefined) return undefined;
  return { name: `curfew-${fn.name}`, groups: entry.kubernetesGroups };
}
