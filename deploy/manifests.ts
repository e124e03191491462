/** The RBAC manifests of `deploy/`, made of the permission table. `npm run generate` writes them, a test compares. */
import { CONFIG_MAP, FUNCTION_NAMES } from '../shared/contract/names.ts';
import {
  FORWARDER_ACCOUNT,
  kubernetesGroupOf,
  PERMISSIONS,
  type KubernetesGrant,
  type Component,
} from '../shared/contract/permissions.ts';

export interface ManifestFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

const RBAC = 'rbac.authorization.k8s.io';
const FORWARDER = FORWARDER_ACCOUNT.name;
const GENERATED = '# Made of shared/contract/permissions.ts by `npm run generate`: change it there.\n';

/** The forwarder, as bindings name it. */
export const FORWARDER_SUBJECT = `{ kind: ServiceAccount, name: ${FORWARDER}, namespace: ${FORWARDER_ACCOUNT.namespace} }`;

/** The users of a group, as bindings name them. */
export const groupSubject = (group: string): string => `{ apiGroup: ${RBAC}, kind: Group, name: '${group}' }`;

/** Where the roles of a part stand. */
export function rbacFileOf(part: Component): string {
  return part === 'forwarder' ? 'deploy/forwarder/rbac.yaml' : `deploy/rbac/${part}.yaml`;
}

/** One file for each function that uses the cluster, and the forwarder's. */
export function rbacFiles(): readonly ManifestFile[] {
  const functions = FUNCTION_NAMES.filter(name => PERMISSIONS[name].kubernetes.length > 0).map(name => {
    const subject = groupSubject(kubernetesGroupOf(name));
    const header = `# What the ${name} function may do; its IAM role is mapped to the group by an EKS access entry.\n`;
    return {
      path: rbacFileOf(name),
      text: GENERATED + header + documents(rolesOf(`curfew-${name}`, name, subject)),
    };
  });
  const { namespace } = CONFIG_MAP;
  const account = [
    'apiVersion: v1',
    'kind: ServiceAccount',
    'metadata:',
    `  name: ${FORWARDER}`,
    `  namespace: ${namespace}`,
  ];
  const forwarder = {
    path: rbacFileOf('forwarder'),
    text:
      `${GENERATED}# What the forwarder may do: read what it watches, and hold one Lease.\n` +
      documents([account, ...rolesOf(FORWARDER, 'forwarder', FORWARDER_SUBJECT)]),
  };
  return [...functions, forwarder];
}

/** A ClusterRole for what is granted in the whole cluster, a Role for each namespace, and their bindings. */
function rolesOf(name: string, part: Component, subject: string): readonly (readonly string[])[] {
  const places = Map.groupBy(PERMISSIONS[part].kubernetes, ({ namespace }) => namespace);
  return [...places].flatMap(([namespace, grants]) => roleWithBinding(name, namespace, grants, subject));
}

/** A ClusterRole and its binding. */
export function clusterRole(
  name: string,
  grants: readonly KubernetesGrant[],
  subject: string,
): readonly (readonly string[])[] {
  return roleWithBinding(name, undefined, grants, subject);
}

function roleWithBinding(
  name: string,
  namespace: string | undefined,
  grants: readonly KubernetesGrant[],
  subject: string,
): readonly (readonly string[])[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const metadata = ['metadata:', `  name: ${name}`, ...(namespace === undefined ? [] : [`  namespace: ${namespace}`])];
  const role = [`apiVersion: ${RBAC}/v1`, `kind: ${kind}`, ...metadata, 'rules:', ...grants.flatMap(ruleOf)];
  const binding = [
    `apiVersion: ${RBAC}/v1`,
    `kind: ${kind}Binding`,
    ...metadata,
    `roleRef: { apiGroup: ${RBAC}, kind: ${kind}, name: ${name} }`,
    'subjects:',
    `  - ${subject}`,
  ];
  return [role, binding];
}

function ruleOf({ group, resource, subresource, names, verbs }: KubernetesGrant): readonly string[] {
  return [
    `  - apiGroups: [${group === '' ? "''" : group}]`,
    `    resources: [${subresource === undefined ? resource : `${resource}/${subresource}`}]`,
    ...(names === undefined ? [] : [`    resourceNames: [${names.join(', ')}]`]),
    `    verbs: [${verbs.join(', ')}]`,
  ];
}

/** YAML documents of lines. */
export function documents(all: readonly (readonly string[])[]): string {
  return all.map(lines => `${lines.join('\n')}\n`).join('---\n');
}
