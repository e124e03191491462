/**
 * `--authorization-mode=RBAC`: the Roles, ClusterRoles and bindings that stand in the server decide. A change counts from the next
 * request on. Roles are not aggregated: a ClusterRole with an `aggregationRule` grants the rules that stand in it.
 */
import { arrayAt, copyObject, isObject, objectAt, textAt, type JsonObject } from '../json.ts';
import type { KubernetesObject, ObjectRef, ResourceType } from '../kubernetes-object.ts';
import { ApiStatusError, type ApiServerCore } from '../types.ts';
import type { RequestAttributes, UserInfo } from './attributes.ts';
import { EVERYTHING, MASTERS, type Authorizer, type Decision, type PolicyRule } from './authorizer.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { createMemory } from '../memory.ts';
import { ruleAllows } from './policy-rules.ts';

const RBAC = 'rbac.authorization.k8s.io';
const type = (resource: string): ResourceType => ({ group: RBAC, version: 'v1', resource });
const ROLES = type('roles');
const CLUSTER_ROLES = type('clusterroles');
const ROLE_BINDINGS = type('rolebindings');
const CLUSTER_ROLE_BINDINGS = type('clusterrolebindings');

/** A binding, read. */
interface Binding {
  /** `ClusterRoleBinding "x" of ClusterRole "y"`. */
  readonly title: string;
  /** Undefined: in the whole cluster. */
  readonly namespace: string | undefined;
  readonly subjects: readonly JsonObject[];
  readonly rules: readonly PolicyRule[];
  /** Set when there is no such role. */
  readonly missing?: string;
}

/** A binding, and the subject of it that is the user. */
type Granted = readonly [Binding, JsonObject];
const REMEMBERED_MAX = 1000;

/** Stores the bootstrap policy where it is missing, and decides by what is stored from now on. */
export function createRbacAuthorizer(core: ApiServerCore): Authorizer {
  for (const manifest of bootstrapPolicy()) {
    const ref = {
      type: manifest.kind === 'ClusterRole' ? CLUSTER_ROLES : CLUSTER_ROLE_BINDINGS,
      name: manifest.metadata.name ?? '',
    };
    if (find(core, ref) === undefined) core.seed(manifest);
  }
  let bindings: readonly Binding[] | undefined;
  /** What was found of users and namespaces since the last change: the same few ask all the time. */
  const found = createMemory<readonly Granted[]>(REMEMBERED_MAX);
  for (const kind of [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS]) {
    core.watch(kind, { resourceVersion: core.resourceVersion }, () => {
      bindings = undefined;
      found.clear();
    });
  }
  const bindingsFor = (user: UserInfo, namespace: string | undefined): readonly Granted[] =>
    found.get([user.name, namespace ?? '', ...user.groups].join('\n'), () => findBindings(user, namespace));
  const findBindings = (user: UserInfo, namespace: string | undefined): readonly Granted[] => {
    bindings ??= readBindings(core);
    return bindings
      .filter(binding => binding.namespace === undefined || binding.namespace === namespace)
      .flatMap((binding): Granted[] => {
        const subject = binding.subjects.find(each => isSubject(each, user, binding.namespace));
        return subject === undefined ? [] : [[binding, subject]];
      });
  };
  return {
    authorize(user, request) {
      if (user.groups.includes(MASTERS)) return { allowed: true, reason: '' };
      return decide(bindingsFor(user, namespaceOf(request)), request);
    },
    rulesOf(user, namespace) {
      if (user.groups.includes(MASTERS)) return EVERYTHING;
      return bindingsFor(user, namespace).flatMap(([{ rules }]) => rules);
    },
  };
}

const namespaceOf = (request: RequestAttributes): string | undefined =>
  'path' in request ? undefined : request.namespace;

function decide(bindings: readonly Granted[], request: RequestAttributes): Decision {
  const missing: string[] = [];
  for (const [{ title, namespace, rules, missing: role }, subject] of bindings) {
    if (role !== undefined) missing.push(`${role} not found`);
    if (!rules.some(rule => ruleAllows(rule, request))) continue;
    return { allowed: true, reason: `RBAC: allowed by ${title} to ${describeSubject(subject, namespace)}` };
  }
  if (missing.length === 0) return { allowed: false, reason: '' };
  return { allowed: false, reason: `RBAC: ${missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`}` };
}

function readBindings(core: ApiServerCore): readonly Binding[] {
  return [...core.list(CLUSTER_ROLE_BINDINGS).items, ...core.list(ROLE_BINDINGS).items].map(object => {
    const { name, namespace } = object.metadata;
    const body = copyObject(object);
    const roleRef = objectAt(body, 'roleRef');
    const kind = textAt(roleRef, 'kind') ?? '';
    const roleName = textAt(roleRef, 'name') ?? '';
    const ref: ObjectRef =
      kind === 'Role' && namespace !== undefined
        ? { type: ROLES, namespace, name: roleName }
        : { type: CLUSTER_ROLES, name: roleName };
    const role = find(core, ref);
    const place = namespace === undefined ? name : `${name}/${namespace}`;
    return {
      title: `${object.kind} "${place}" of ${kind} "${roleName}"`,
      namespace,
      subjects: arrayAt(body, 'subjects').filter(isObject),
      rules: role === undefined ? [] : arrayAt(copyObject(role), 'rules').filter(isObject).map(toRule),
      ...(role === undefined ? { missing: `${kind.toLowerCase()}.${RBAC} ${JSON.stringify(roleName)}` } : {}),
    };
  });
}

function find(core: ApiServerCore, ref: ObjectRef): KubernetesObject | undefined {
  try {
    return core.get(ref);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return undefined;
    throw error;
  }
}

function toRule(rule: JsonObject): PolicyRule {
  const list = (field: string): readonly string[] => arrayAt(rule, field).filter(each => typeof each === 'string');
  return {
    verbs: list('verbs'),
    apiGroups: list('apiGroups'),
    resources: list('resources'),
    resourceNames: list('resourceNames'),
    nonResourceURLs: list('nonResourceURLs'),
  };
}

/** @param bindingNamespace where a ServiceAccount stands that names no namespace */
function isSubject(subject: JsonObject, user: UserInfo, bindingNamespace: string | undefined): boolean {
  const name = textAt(subject, 'name') ?? '';
  switch (textAt(subject, 'kind') ?? '') {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const namespace = textAt(subject, 'namespace') || bindingNamespace;
      return namespace !== undefined && user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
}

function describeSubject(subject: JsonObject, bindingNamespace: string | undefined): string {
  const kind = textAt(subject, 'kind') ?? '';
  const name = textAt(subject, 'name') ?? '';
  const namespace = textAt(subject, 'namespace') || (bindingNamespace ?? '');
  return kind === 'ServiceAccount' ? `${kind} "${name}/${namespace}"` : `${kind} "${name}"`;
}
