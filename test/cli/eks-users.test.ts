/** The local cluster knows a function by its EKS token, and lets it do what `deploy/rbac` allows its group. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEksUsers } from '../../cli/start/eks-users.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import type { FunctionModel } from '../../packages/local-aws/src/model.ts';
import { signEksToken } from '../../shared/adapters/kubernetes/eks-token.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';

const roleArn = (name: string): string => `arn:aws:iam::000000000000:role/${name}`;
const fn = (name: string): FunctionModel => ({
  name,
  physicalName: name,
  arn: '',
  roleArn: roleArn(name),
  taskRoot: '',
  handler: '',
  runtime: 'nodejs24.x',
  memoryMiB: 128,
  timeoutSeconds: 3,
  logGroup: '',
  logFormat: 'JSON',
  environment: {},
});
const MODEL = {
  region: 'us-east-1',
  account: '000000000000',
  stacks: [],
  tables: [],
  queues: [],
  queuePolicies: [],
  buses: [],
  rules: [],
  functions: [fn('repair'), fn('timer')],
  eventSources: [],
  schedules: [],
  roles: [],
  accessEntries: [{ roleArn: roleArn('repair'), kubernetesGroups: ['curfew:repair'] }],
  podIdentities: [],
};
const KEYS = ['repair', 'timer', 'stranger'];
const aws = { model: MODEL, roleOf: (key: string) => (KEYS.includes(key) ? roleArn(key) : undefined) };

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster(systemClock, 0, createEksUsers(aws));
  cluster.core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
});
afterAll(() => cluster.close());

const tokenOf = (accessKeyId: string): Promise<string> =>
  signEksToken(
    { clusterName: 'local', region: 'us-east-1', credentials: { accessKeyId, secretAccessKey: 'local' } },
    systemClock.now(),
  );
const call = async (accessKeyId: string, method: string): Promise<readonly [number, unknown]> => {
  const authorization = `Bearer ${await tokenOf(accessKeyId)}`;
  const response = await fetch(`${cluster.url}/api/v1/nodes/n1`, { method, headers: { authorization } });
  const body: unknown = await response.json();
  return [response.status, typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined];
};

describe('a function at the local cluster', () => {
  it('may do what the group of its access entry may', async () => {
    expect(await call('repair', 'GET')).toEqual([200, undefined]);
  });

  it('is refused anything else, in the words of kube-apiserver', async () => {
    expect(await call('repair', 'DELETE')).toEqual([
      403,
      'nodes "n1" is forbidden: User "curfew-repair" cannot delete resource "nodes" in API group "" at the cluster scope',
    ]);
    expect(cluster.core.get({ type: RESOURCES.Node, name: 'n1' }).metadata.name).toBe('n1');
  });

  it.each(['timer', 'stranger', 'nobody'])('is nobody without an access entry: %s', async key => {
    expect(await call(key, 'GET')).toEqual([401, 'Unauthorized']);
  });

  it('is nobody with a token that is none', () => {
    for (const token of ['', 'k8s-aws-v1.', 'k8s-aws-v1.bm90IGEgdXJs', 'user:admin']) {
      expect(createEksUsers(aws)(token)).toBeUndefined();
    }
  });
});
