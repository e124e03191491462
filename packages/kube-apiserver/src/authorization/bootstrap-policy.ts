/**
 * The roles and bindings without which a client cannot even ask: kube-apiserver makes them at its start. Those that are made by
 * aggregation (`admin`, `edit`, `view`), and those of Kubernetes' own components, are left out.
 */
import type { KubernetesManifest } from '../kubernetes-object.ts';
import { EVERYTHING, MASTERS, type PolicyRule } from './authorizer.ts';

const RBAC = 'rbac.authorization.k8s.io';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

const HEALTH = ['/healthz', '/livez', '/readyz'];
const VERSION = ['/version', '/version/'];
const ROLES: readonly {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  readonly groups: readonly string[];
}[] = [
  { name: 'cluster-admin', rules: EVERYTHING, groups: [MASTERS] },
  {
    name: 'system:basic-user',
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ],
    groups: [AUTHENTICATED],
  },
  {
    name: 'system:discovery',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', ...HEALTH, '/openapi', '/openapi/*', ...VERSION],
      },
    ],
    groups: [AUTHENTICATED],
  },
  {
    name: 'system:public-info-viewer',
    rules: [{ verbs: ['get'], nonResourceURLs: [...HEALTH, ...VERSION] }],
    groups: [AUTHENTICATED, UNAUTHENTICATED],
  },
];
const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

export function bootstrapPolicy(): readonly KubernetesManifest[] {
  return ROLES.flatMap(({ name, rules, groups }) => [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name, labels: LABELS },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: groups.map(group => ({ apiGroup: RBAC, kind: 'Group', name: group })),
    },
  ]);
}
