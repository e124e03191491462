/** Kinds whose grant gives away more than their objects: said beside the roles that `curfew rbac` prints (docs/security.md). */
import type { KindUse } from '../../deploy/custom-kind-roles.ts';

interface GrantedResource {
  readonly group: string;
  readonly resource: string;
}

const RUN_CODE: ReadonlySet<string> = new Set([
  'pods',
  'podtemplates',
  'replicationcontrollers',
  'deployments.apps',
  'daemonsets.apps',
  'statefulsets.apps',
  'replicasets.apps',
  'jobs.batch',
  'cronjobs.batch',
]);
const GIVE_PERMISSIONS: ReadonlySet<string> = new Set([
  'serviceaccounts',
  'certificatesigningrequests.certificates.k8s.io',
]);
/** Whole groups: RBAC, and what changes or refuses the requests of others. */
const GROUPS_OF_PERMISSIONS: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
]);

/** The access to the objects that each use gives Curfew, and who steers it. */
const GRANTED: Readonly<Record<KindUse, string>> = {
  finalizerrules: 'Curfew can read and patch every one in the cluster, by rules of anyone who may write FinalizerRules',
  hooks:
    'Curfew can read and create them in every namespace, by templates of anyone who may write the ConfigMap curfew-config',
};

/** A line for each kind that a grant should make somebody think about. */
export function warningsOn(use: KindUse, types: readonly GrantedResource[]): readonly string[] {
  return types.flatMap(({ group, resource }) => {
    const name = group === '' ? resource : `${resource}.${group}`;
    const because = reasonFor(group, name);
    return because === undefined
      ? []
      : [`warning: ${name}: ${because}: ${GRANTED[use]}. Read docs/security.md before you apply this.`];
  });
}

function reasonFor(group: string, name: string): string | undefined {
  if (name === 'secrets') return 'Secrets hold passwords, keys and tokens';
  if (GROUPS_OF_PERMISSIONS.has(group) || GIVE_PERMISSIONS.has(name)) return 'such objects decide who may do what';
  if (RUN_CODE.has(name)) return 'such objects run code, with the rights of any service account of their namespace';
  return undefined;
}
