/**
 * The MutatingAdmissionPolicy that puts our finalizer on NodeClaims and Nodes in the write that creates them, and, under
 * `builtin: Replace`, takes Karpenter's own off in every write. One policy for all pools, so that applying it again after a change
 * leaves nothing of the old settings behind. Kubernetes 1.36 and later.
 */
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { NO_FINALIZERS, type PoolFinalizers, type TerminationTable } from './termination-settings.ts';

export const TERMINATION_POLICY = 'termination.curfew.dev';
const inAdmission = (resource: string): ResourceType => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource,
});
/** As what the two objects are read and deleted. */
export const TERMINATION_POLICY_TYPES = {
  policy: inAdmission('mutatingadmissionpolicies'),
  binding: inAdmission('mutatingadmissionpolicybindings'),
} as const;

const text = (value: string): string => JSON.stringify(value);
const BUILTIN = text(KARPENTER.terminationFinalizer);
const POOL_LABEL = text(KARPENTER.nodePoolLabel);
const MARK = text(ANNOTATIONS.terminationFinalizer);

/** The policy and its binding. */
export function terminationPolicy(table: TerminationTable): readonly KubernetesManifest[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: TERMINATION_POLICY, labels: { 'app.kubernetes.io/part-of': 'curfew' } };
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        // Nothing is launched without the finalizer that it must have.
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        // With all defaults, here and in the rules: else kubectl says `configured` at every apply, and a server-side apply conflicts.
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [
            rule('karpenter.sh', 'nodeclaims'),
            // Without /status: the heartbeats of kubelets pass by.
            rule('', 'nodes'),
          ],
        },
        matchConditions: [
          { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
          // Everything that can be due: a new object, or Karpenter's finalizer in it.
          {
            name: 'new-or-held-by-karpenter',
            expression: `request.operation == 'CREATE' || ${BUILTIN} in object.metadata.?finalizers.orValue([])`,
          },
        ],
        variables: variables(table),
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: PATCH } }],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: TERMINATION_POLICY },
    },
  ];
}

function rule(group: string, resource: string): JsonObject {
  const operations = ['CREATE', 'UPDATE'];
  return { apiGroups: [group], apiVersions: ['v1'], resources: [resource], operations, scope: '*' };
}

/** The variables that say what each pool asks for; all else is the same for every cluster. */
export const TABLE_VARIABLES: readonly string[] = ['finalizer', 'replaces'];

function variables({ pools, others }: TerminationTable): { readonly name: string; readonly expression: string }[] {
  // Pools that are as those that nobody named need no entry.
  const named = [...pools].filter(([, pool]) => !isSame(pool, others));
  const tableOf = (part: 'nodeClaims' | 'nodes'): string =>
    `{${named.map(([name, pool]) => `${text(name)}: ${text(pool[part])}`).join(', ')}}`;
  const chosen = (part: 'nodeClaims' | 'nodes'): string => lookup(named.length, tableOf(part), text(others[part]));
  const listed = (replaces: boolean): string =>
    `[${named.flatMap(([name, pool]) => (pool.replaces === replaces ? [text(name)] : [])).join(', ')}]`;
  return [
    { name: 'pool', expression: `object.metadata.?labels[?${POOL_LABEL}].orValue("")` },
    {
      name: 'finalizer',
      expression: `request.resource.resource == "nodes" ? ${chosen('nodes')} : ${chosen('nodeClaims')}`,
    },
    {
      name: 'replaces',
      expression: others.replaces ? `!(variables.pool in ${listed(false)})` : `variables.pool in ${listed(true)}`,
    },
    { name: 'present', expression: 'object.metadata.?finalizers.orValue([])' },
    {
      name: 'before',
      expression: 'oldObject == null ? [] : oldObject.metadata.?finalizers.orValue([])',
    },
    // Without Replace an update is touched when Karpenter takes the object over: a Node joins its pool with its finalizer.
    {
      name: 'due',
      expression: `variables.finalizer != "" && (request.operation == "CREATE" || variables.replaces || !(${BUILTIN} in variables.before))`,
    },
    // A list of its own in either case: Kubernetes 1.37 puts none that stands in a Node into a patch.
    {
      name: 'kept',
      expression: `variables.present.filter(name, !variables.replaces || name != ${BUILTIN})`,
    },
    {
      name: 'finalizers',
      expression: 'variables.finalizer in variables.kept ? variables.kept : variables.kept + [variables.finalizer]',
    },
  ];
}

function lookup(count: number, table: string, others: string): string {
  return count === 0 ? others : `(variables.pool in ${table} ? ${table}[variables.pool] : ${others})`;
}

/** The finalizers, and the mark by which the finalizer function knows ours. */
const PATCH = `!variables.due ? [] : [
  JSONPatch{op: "add", path: "/metadata/finalizers", value: variables.finalizers},
  has(object.metadata.annotations)
    ? JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey(${MARK}), value: variables.finalizer}
    : JSONPatch{op: "add", path: "/metadata/annotations", value: {${MARK}: variables.finalizer}}
]
`;

function isSame(a: PoolFinalizers, b: PoolFinalizers): boolean {
  return a.nodeClaims === b.nodeClaims && a.nodes === b.nodes && a.replaces === b.replaces;
}

/** True when the policy puts no finalizer on anything. */
export function isEmptyTable({ pools, others }: TerminationTable): boolean {
  return [...pools.values(), others].every(
    each => each.nodeClaims === NO_FINALIZERS.nodeClaims && each.nodes === NO_FINALIZERS.nodes,
  );
}
