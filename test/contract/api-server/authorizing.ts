/** RBAC: who may do what, by the roles and bindings that stand in the server. */
import { describe, expect, it, vi } from 'vitest';
import { PATCH, type Answer, type CallOptions } from './http-client.ts';
import {
  aConfigMap,
  at,
  configMaps,
  created,
  EVENTUALLY,
  inNamespace,
  listAt,
  runningPod,
  type ApiServerSubject,
  type MakeSubject,
} from './subject.ts';

const RBAC = 'rbac.authorization.k8s.io';
const REVIEWS = '/apis/authorization.k8s.io/v1';

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const rbac = ({ namespace }: ApiServerSubject, resource: string): string =>
  resource.startsWith('cluster')
    ? `/apis/${RBAC}/v1/${resource}`
    : `/apis/${RBAC}/v1/namespaces/${namespace}/${resource}`;

/** A user of this case alone, without any permission. */
const nobodyOf = ({ namespace }: ApiServerSubject) => ({ user: `jane-${namespace}` });

/** Binds rules to a subject, in the namespace of the case or in the whole cluster. */
async function bind(
  subject: ApiServerSubject,
  rules: readonly Rule[],
  who: object,
  scope: 'Role' | 'ClusterRole' = 'Role',
): Promise<void> {
  const name = `grant-${subject.namespace}`;
  const plural = scope === 'Role' ? 'role' : 'clusterrole';
  await created(subject, rbac(subject, `${plural}s`), { metadata: { name }, rules });
  await created(subject, rbac(subject, `${plural}bindings`), {
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: scope, name },
    subjects: [who],
  });
}

/** The request, once what was just granted has reached the server's authorizer. */
async function granted(subject: ApiServerSubject, method: string, path: string, options: CallOptions): Promise<Answer> {
  return await vi.waitFor(async () => {
    const answer = await subject.http.call(method, path, options);
    expect(answer.status).not.toBe(403);
    return answer;
  }, EVENTUALLY);
}

export function defineAuthorizing(makeSubject: MakeSubject): void {
  describe('without permission', () => {
    const refusals: readonly {
      readonly what: string;
      readonly method: string;
      readonly path: (namespace: string) => string;
      readonly message: (user: string, namespace: string) => string;
      readonly options?: CallOptions;
    }[] = [
      {
        what: 'a read of a namespaced object',
        method: 'GET',
        path: ns => `/api/v1/namespaces/${ns}/configmaps/x`,
        message: (user, ns) =>
          `configmaps "x" is forbidden: User "${user}" cannot get resource "configmaps" in API group "" in the namespace "${ns}"`,
      },
      {
        what: 'a read of a cluster-scoped object',
        method: 'GET',
        path: () => '/api/v1/nodes/n1',
        message: user =>
          `nodes "n1" is forbidden: User "${user}" cannot get resource "nodes" in API group "" at the cluster scope`,
      },
      {
        what: 'a namespace, which is in itself',
        method: 'GET',
        path: ns => `/api/v1/namespaces/${ns}`,
        message: (user, ns) =>
          `namespaces "${ns}" is forbidden: User "${user}" cannot get resource "namespaces" in API group "" in the namespace "${ns}"`,
      },
      {
        what: 'a list of all namespaces',
        method: 'GET',
        path: () => '/api/v1/pods',
        message: user =>
          `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" at the cluster scope`,
      },
      {
        what: 'a watch',
        method: 'GET',
        path: ns => `/api/v1/namespaces/${ns}/pods?watch=true`,
        message: (user, ns) =>
          `pods is forbidden: User "${user}" cannot watch resource "pods" in API group "" in the namespace "${ns}"`,
      },
      {
        what: 'a list by name, which asks for that object',
        method: 'GET',
        path: ns => `/api/v1/namespaces/${ns}/pods?fieldSelector=metadata.name%3Dweb-0`,
        message: (user, ns) =>
          `pods "web-0" is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "${ns}"`,
      },
      {
        what: 'a create',
        method: 'POST',
        path: ns => `/api/v1/namespaces/${ns}/configmaps`,
        message: (user, ns) =>
          `configmaps is forbidden: User "${user}" cannot create resource "configmaps" in API group "" in the namespace "${ns}"`,
        options: { body: { metadata: { name: 'x' } } },
      },
      {
        what: 'a deletion of a collection',
        method: 'DELETE',
        path: ns => `/apis/apps/v1/namespaces/${ns}/deployments`,
        message: (user, ns) =>
          `deployments.apps is forbidden: User "${user}" cannot deletecollection resource "deployments" in API group "apps" in the namespace "${ns}"`,
      },
      {
        what: 'a subresource',
        method: 'POST',
        path: ns => `/api/v1/namespaces/${ns}/pods/web-0/eviction`,
        message: (user, ns) =>
          `pods "web-0" is forbidden: User "${user}" cannot create resource "pods/eviction" in API group "" in the namespace "${ns}"`,
        options: { body: { metadata: { name: 'web-0' } } },
      },
      {
        what: 'a resource that is not served',
        method: 'GET',
        path: () => '/apis/example.com/v1/nothings/x',
        message: user =>
          `nothings.example.com "x" is forbidden: User "${user}" cannot get resource "nothings" in API group "example.com" at the cluster scope`,
      },
      {
        what: 'a path',
        method: 'GET',
        path: () => '/metrics',
        message: user => `forbidden: User "${user}" cannot get path "/metrics"`,
      },
    ];

    it.each(refusals)('$what is refused', async ({ method, path, message, options }) => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const answer = await subject.http.call(method, path(subject.namespace), { ...options, as });
      expect([answer.status, at(answer.body, 'reason'), at(answer.body, 'message')]).toEqual([
        403,
        'Forbidden',
        message(as.user, subject.namespace),
      ]);
    });

    it('the refusal names the object and its resource', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const answer = await subject.http.call('DELETE', '/apis/apps/v1/namespaces/x/deployments/web', { as });
      expect(at(answer.body, 'details')).toEqual({ name: 'web', group: 'apps', kind: 'deployments' });
    });

    it('what everybody may do works: discovery, the version, asking for permissions', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      for (const path of ['/version', '/readyz', '/api', '/apis', '/api/v1', '/openapi/v3']) {
        expect([path, (await subject.http.call('GET', path, { as })).status]).toEqual([path, 200]);
      }
      const body = { spec: { resourceAttributes: { verb: 'list', resource: 'nodes' } } };
      const review = await subject.http.call('POST', `${REVIEWS}/selfsubjectaccessreviews`, { as, body });
      expect([review.status, at(review.body, 'status')]).toEqual([201, { allowed: false }]);
    });
  });

  describe('a role', () => {
    it('allows its verbs on its resources in its namespace, to the user that it is bound to', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      await created(subject, configMaps(subject), aConfigMap('x'));
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC });
      expect((await granted(subject, 'GET', configMaps(subject, 'x'), { as })).status).toBe(200);
      expect((await granted(subject, 'GET', configMaps(subject), { as })).status).toBe(200);
      const refused: readonly (readonly [string, string])[] = [
        ['DELETE', configMaps(subject, 'x')],
        ['GET', `${configMaps(subject)}?watch=true`],
        ['GET', '/api/v1/namespaces/default/configmaps/x'],
        ['GET', '/api/v1/configmaps'],
        ['GET', inNamespace(subject, 'secrets', 'x')],
      ];
      for (const [method, path] of refused) {
        expect([path, (await subject.http.call(method, path, { as })).status]).toEqual([path, 403]);
      }
      expect((await subject.http.call('GET', configMaps(subject, 'x'), { as: { user: 'somebody-else' } })).status).toBe(
        403,
      );
    });

    it('is bound to groups and to service accounts as well', async () => {
      const subject = await makeSubject();
      const { namespace } = subject;
      await created(subject, configMaps(subject), aConfigMap('x'));
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
      await bind(subject, rules, { kind: 'Group', name: `team-${namespace}`, apiGroup: RBAC });
      const member = { user: 'anybody', groups: [`team-${namespace}`] };
      expect((await granted(subject, 'GET', configMaps(subject, 'x'), { as: member })).status).toBe(200);
      await created(subject, rbac(subject, 'rolebindings'), {
        metadata: { name: 'account' },
        roleRef: { apiGroup: RBAC, kind: 'Role', name: `grant-${namespace}` },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace }],
      });
      const robot = { user: `system:serviceaccount:${namespace}:robot` };
      expect((await granted(subject, 'GET', configMaps(subject, 'x'), { as: robot })).status).toBe(200);
      const other = { user: `system:serviceaccount:default:robot` };
      expect((await subject.http.call('GET', configMaps(subject, 'x'), { as: other })).status).toBe(403);
    });

    it('may name objects: then lists and watches must select one of them', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      await created(subject, configMaps(subject), aConfigMap('x'));
      const rules = [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: ['x'], verbs: ['get', 'list', 'watch', 'patch'] },
      ];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC });
      const selected = { fieldSelector: 'metadata.name=x' };
      expect((await granted(subject, 'GET', configMaps(subject), { as, query: selected })).status).toBe(200);
      for await (const { type } of subject.http.watch(configMaps(subject), selected, as)) {
        expect(type).toBe('ADDED');
        break;
      }
      const statuses = [
        await subject.http.call('GET', configMaps(subject), { as }),
        await subject.http.call('GET', configMaps(subject), { as, query: { fieldSelector: 'metadata.name=y' } }),
        await subject.http.call('GET', configMaps(subject, 'y'), { as }),
        await subject.http.call('GET', configMaps(subject, 'x'), { as }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([403, 403, 403, 200]);
    });

    it('names a subresource apart from its resource', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      await runningPod(subject, 'web-0');
      const rules = [
        { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
        { apiGroups: [''], resources: ['*/status'], verbs: ['get'] },
      ];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC });
      const pod = inNamespace(subject, 'pods', 'web-0');
      expect((await granted(subject, 'GET', `${pod}/status`, { as })).status).toBe(200);
      expect((await subject.http.call('GET', pod, { as })).status).toBe(403);
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0' } };
      expect((await subject.http.call('POST', `${pod}/eviction`, { as, body: eviction })).status).toBe(201);
    });

    it('that allows an update alone does not allow what would be a create', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const path = `/apis/coordination.k8s.io/v1/namespaces/${subject.namespace}/leases`;
      const rules = [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update', 'patch', 'get'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] },
      ];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC });
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} };
      const put = await granted(subject, 'GET', `${path}/a`, { as }).then(() =>
        subject.http.call('PUT', `${path}/a`, { as, body: lease }),
      );
      const apply = await subject.http.call('PATCH', configMaps(subject, 'x'), {
        as,
        query: { fieldManager: 'm' },
        type: PATCH.apply,
        body: aConfigMap('x'),
      });
      expect([put.status, apply.status]).toEqual([403, 403]);
      await created(subject, path, lease);
      // Past the permission: an update of a Lease must say which version it changes.
      expect((await subject.http.call('PUT', `${path}/a`, { as, body: lease })).status).toBe(422);
    });
  });

  describe('a cluster role', () => {
    it('allows in the whole cluster, cluster-scoped resources and paths included', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const rules = [
        { apiGroups: [''], resources: ['nodes', 'configmaps'], verbs: ['list'] },
        { nonResourceURLs: ['/metrics', '/debug/*'], verbs: ['get'] },
      ];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC }, 'ClusterRole');
      expect((await granted(subject, 'GET', '/api/v1/nodes', { as })).status).toBe(200);
      expect((await granted(subject, 'GET', configMaps(subject), { as })).status).toBe(200);
      expect((await subject.http.call('GET', '/debug/nothing', { as })).status).not.toBe(403);
      expect((await subject.http.call('GET', '/logs', { as })).status).toBe(403);
      expect((await subject.http.call('GET', '/api/v1/nodes/n1', { as })).status).toBe(403);
    });

    it('allows in one namespace when a RoleBinding binds it there', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const name = `cluster-wide-${subject.namespace}`;
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
      await created(subject, rbac(subject, 'clusterroles'), { metadata: { name }, rules });
      await created(subject, rbac(subject, 'rolebindings'), {
        metadata: { name },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
        subjects: [{ kind: 'User', name: as.user, apiGroup: RBAC }],
      });
      expect((await granted(subject, 'GET', configMaps(subject), { as })).status).toBe(200);
      expect((await subject.http.call('GET', '/api/v1/configmaps', { as })).status).toBe(403);
    });

    it('that is missing is named in the refusal', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      await created(subject, rbac(subject, 'rolebindings'), {
        metadata: { name: 'lost' },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: `missing-${subject.namespace}` },
        subjects: [{ kind: 'User', name: as.user, apiGroup: RBAC }],
      });
      const prefix = subject.minor >= 37 ? 'rbac: RBAC' : 'RBAC';
      const message =
        `configmaps is forbidden: User "${as.user}" cannot list resource "configmaps" in API group "" in the namespace "${subject.namespace}": ` +
        `${prefix}: clusterrole.rbac.authorization.k8s.io "missing-${subject.namespace}" not found`;
      await vi.waitFor(async () => {
        const { body } = await subject.http.call('GET', configMaps(subject), { as });
        expect(at(body, 'message')).toBe(message);
      }, EVENTUALLY);
    });
  });

  describe('reviews', () => {
    it('say what is allowed and by what, of the asker and of others', async () => {
      const subject = await makeSubject();
      const { namespace } = subject;
      const as = nobodyOf(subject);
      const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['x'], verbs: ['get'] }];
      await bind(subject, rules, { kind: 'User', name: as.user, apiGroup: RBAC });
      await granted(subject, 'GET', configMaps(subject, 'x'), { as });
      const named = { resourceAttributes: { namespace, verb: 'get', resource: 'configmaps', name: 'x' } };
      const any = { resourceAttributes: { namespace, verb: 'get', resource: 'configmaps' } };
      const self = async (spec: object): Promise<unknown> => {
        const answer = await subject.http.call('POST', `${REVIEWS}/selfsubjectaccessreviews`, { as, body: { spec } });
        expect(answer.status).toBe(201);
        return at(answer.body, 'status');
      };
      const reason = `RBAC: allowed by RoleBinding "grant-${namespace}/${namespace}" of Role "grant-${namespace}" to User "${as.user}"`;
      expect(await self(named)).toEqual({ allowed: true, reason });
      expect(await self(any)).toEqual({ allowed: false });
      expect(await self({ nonResourceAttributes: { verb: 'get', path: '/metrics' } })).toEqual({ allowed: false });

      const others = await subject.http.call('POST', `${REVIEWS}/subjectaccessreviews`, {
        body: { spec: { ...named, user: as.user } },
      });
      expect([others.status, at(others.body, 'status.allowed')]).toEqual([201, true]);
      const local = await subject.http.call('POST', `${REVIEWS}/namespaces/${namespace}/localsubjectaccessreviews`, {
        body: { metadata: { namespace }, spec: { ...named, user: 'somebody' } },
      });
      expect([local.status, at(local.body, 'status.allowed')]).toEqual([201, false]);
      const notAllowedToAsk = await subject.http.call('POST', `${REVIEWS}/subjectaccessreviews`, {
        as,
        body: { spec: { ...named, user: as.user } },
      });
      expect(notAllowedToAsk.status).toBe(403);
    });

    it('list the rules of the asker', async () => {
      const subject = await makeSubject();
      const as = nobodyOf(subject);
      const rule = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['x'] };
      await bind(subject, [rule], { kind: 'User', name: as.user, apiGroup: RBAC });
      await granted(subject, 'GET', configMaps(subject, 'x'), { as });
      const body = { spec: { namespace: subject.namespace } };
      const answer = await subject.http.call('POST', `${REVIEWS}/selfsubjectrulesreviews`, { as, body });
      expect(listAt(answer.body, 'status.resourceRules')).toContainEqual(rule);
      expect(at(answer.body, 'status.incomplete')).toBe(false);
    });

    it('are refused when they ask for nothing, or for two things', async () => {
      const subject = await makeSubject();
      const both = { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { verb: 'get', path: '/' } };
      const fieldOf = async (spec: object): Promise<unknown> => {
        const answer = await subject.http.call('POST', `${REVIEWS}/selfsubjectaccessreviews`, { body: { spec } });
        expect(answer.status).toBe(422);
        return at(answer.body, 'details.causes.0.field');
      };
      const fields = subject.minor >= 37 ? ['spec', 'spec'] : ['spec.resourceAttributes', 'spec.nonResourceAttributes'];
      expect([await fieldOf({}), await fieldOf(both)]).toEqual(fields);
    });
  });

  it('nothing is refused to system:masters', async () => {
    const subject = await makeSubject();
    const as = { user: 'root', groups: ['system:masters'] };
    expect((await subject.http.call('GET', '/api/v1/nodes', { as })).status).toBe(200);
    expect((await subject.http.call('GET', configMaps(subject, 'x'), { as })).status).toBe(404);
  });
}
