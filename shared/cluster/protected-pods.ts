/** The pods on a node and the protection policy that applies to them. Always live reads. */
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { readNode } from '../domain/node.ts';
import { readPod, type PodView } from '../domain/pod.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { inParallel } from './in-parallel.ts';
import { listPods } from './lists.ts';
import { loadPool } from './known-pool.ts';
import { loadPolicies } from './node-pool.ts';
import type { PolicySet } from '../policies/policy-set.ts';
import { effectiveProtection, type EffectiveProtection } from '../policies/protection-settings.ts';
import { nodePoolOf } from './node-pool.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;
type SettingsDeps = Deps & Partial<Pick<FunctionDeps, 'records'>>;

/** All pods that are bound to the node. */
export async function loadPodsOnNode(deps: Deps, nodeName: string): Promise<readonly PodView[]> {
  const pods = await listPods(deps, { fieldSelector: `spec.nodeName=${nodeName}` });
  return pods.map(readPod);
}

/**
 * The protection policy in force for the pods on a node; without records, what a NodePool that went had granted is not known.
 *
 * @param load the policies: as they stand, or as a function keeps them
 */
export async function loadProtection(
  deps: SettingsDeps,
  node: KubernetesObject,
  load: () => Promise<PolicySet> = () => loadPolicies(deps),
): Promise<EffectiveProtection> {
  const [pool, policies] = await inParallel([loadPool(deps, nodePoolOf(readNode(node))), load()]);
  return effectiveProtection(pool, policies);
}
