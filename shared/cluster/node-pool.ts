/** The surroundings of a node: its NodePool and the policies. Always live reads. */
import { KARPENTER } from '../contract/names.ts';
import { RESOURCES } from '../contract/resources.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { ListQuery } from '../ports/kubernetes-api.ts';
import { readPolicies, type PolicySet } from '../policies/policy-set.ts';
import { objectOf, objectsOf } from '../ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

/**
 * All policies, as they stand in the cluster.
 *
 * @throws {KindNotServed} where Curfew's definitions are not served: what is enforced and what is only observed is not known
 */
export async function listPolicies({ kubernetes }: Deps): Promise<readonly KubernetesObject[]> {
  return objectsOf(await kubernetes.list(RESOURCES.NodeLifecyclePolicy), { ifNotServed: 'throw' });
}

/** Loads all policies as a set. Of a policy that cannot be read, no earlier version takes its place. */
export async function loadPolicies(deps: Deps): Promise<PolicySet> {
  return readPolicies(await listPolicies(deps));
}

/**
 * The NodePool that something names; undefined when there is none of that name.
 *
 * @throws {KindNotServed} where NodePools are not served: the name says that there was one
 */
export async function loadNodePool(
  { kubernetes }: Deps,
  name: string | undefined,
): Promise<KubernetesObject | undefined> {
  return name === undefined
    ? undefined
    : objectOf(await kubernetes.get({ type: RESOURCES.NodePool, name }), { ifNotServed: 'throw' });
}

/** Selects what is labelled with the NodePool; undefined: everything. */
export const poolQuery = (pool: string | undefined): ListQuery =>
  pool === undefined ? {} : { labelSelector: `${KARPENTER.nodePoolLabel}=${pool}` };

/** The name of the NodePool in an object's labels. */
export function nodePoolOf(object: { readonly labels?: Readonly<Record<string, string>> }): string | undefined {
  return object.labels?.[KARPENTER.nodePoolLabel];
}
