import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRbacAuthorizer } from '../../src/authorization/rbac.ts';
import { createApiServer } from '../../src/api-server.ts';
import { valueAt } from '../../src/http/json-fields.ts';
import { serveApiServer, type RequestLogEntry, type ServedApi } from '../../src/http/server.ts';

const RBAC = 'rbac.authorization.k8s.io';
const core = createApiServer({ clock: { now: () => 0 } });
const log: RequestLogEntry[] = [];
let served: ServedApi;

beforeAll(async () => {
  served = await serveApiServer(core, {
    now: () => 0,
    log: entry => log.push(entry),
    authorization: {
      authorizer: createRbacAuthorizer(core),
      authenticateToken: token => (token === 'secret' ? { name: 'robot', groups: ['robots'] } : undefined),
    },
  });
  core.seed({
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'impersonator' },
    rules: [{ apiGroups: [''], resources: ['users'], resourceNames: ['jane'], verbs: ['impersonate'] }],
  });
  core.seed({
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'impersonator' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'impersonator' },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'robots' }],
  });
});
afterAll(() => served.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(served.url + path, { headers });
const token = (text: string) => ({ authorization: `Bearer ${text}` });

async function whoAmI(headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(`${served.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  });
  const answer: unknown = await response.json();
  return valueAt(answer, 'status', 'userInfo') ?? valueAt(answer, 'message');
}

describe('with an authorizer, the user', () => {
  test('is whose the token is, in the groups of everybody and of service accounts', async () => {
    expect(await whoAmI(token('secret'))).toEqual({ username: 'robot', groups: ['robots', 'system:authenticated'] });
    expect(await whoAmI(token('user:jane'))).toEqual({ username: 'jane', groups: ['system:authenticated'] });
    expect(await whoAmI(token('user:admin'))).toEqual({
      username: 'admin',
      groups: ['system:masters', 'system:authenticated'],
    });
    expect(await whoAmI(token('user:system:serviceaccount:prod:web'))).toEqual({
      username: 'system:serviceaccount:prod:web',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:prod', 'system:authenticated'],
    });
  });

  test('is nobody with a token that nobody has', async () => {
    const response = await get('/api/v1/nodes', token('k8s-aws-v1.unknown'));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ reason: 'Unauthorized', message: 'Unauthorized', code: 401 });
  });

  test('is anonymous without credentials, and may see health and version only', async () => {
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/version')).status).toBe(200);
    const response = await get('/api/v1/nodes', { 'user-agent': 'kubectl/v1', 'x-remote-user': 'admin' });
    expect(await response.json()).toMatchObject({
      code: 403,
      message:
        'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
    });
    expect(log.at(-1)).toMatchObject({ user: 'system:anonymous', code: 403 });
  });

  test('becomes somebody else when allowed to impersonate, groups included', async () => {
    expect(await whoAmI({ ...token('secret'), 'impersonate-user': 'jane' })).toEqual({
      username: 'jane',
      groups: ['system:authenticated'],
    });
    expect(await whoAmI({ ...token('secret'), 'impersonate-user': 'bob' })).toBe(
      'users "bob" is forbidden: User "robot" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
    expect(
      await whoAmI({ ...token('secret'), 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }),
    ).toBe(
      'groups "system:masters" is forbidden: User "robot" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    expect(await whoAmI({ ...token('user:admin'), 'impersonate-user': 'system:serviceaccount:prod:web' })).toEqual({
      username: 'system:serviceaccount:prod:web',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:prod', 'system:authenticated'],
    });
  });

  test('has a kubeconfig of its own', () => {
    expect(served.kubeconfig('system:serviceaccount:curfew:curfew-forwarder')).toContain(
      'token: user:system:serviceaccount:curfew:curfew-forwarder',
    );
  });
});

describe('the authorizer', () => {
  test('counts a change of a role or a binding from the next request on', async () => {
    const jane = token('user:jane');
    expect((await get('/api/v1/nodes', jane)).status).toBe(403);
    const type = { group: RBAC, version: 'v1', resource: 'clusterrolebindings' };
    core.create(type, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'jane' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'jane' }],
    });
    expect((await get('/api/v1/nodes', jane)).status).toBe(200);
    core.delete({ type, name: 'jane' });
    expect((await get('/api/v1/nodes', jane)).status).toBe(403);
  });
});
