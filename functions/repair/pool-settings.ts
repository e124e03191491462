/** Reads the settings in force for a pool. A pass reads them at its beginning, and again before its acts. */
import type { PassDeps } from './context.ts';
import { OWNER } from './common/context.ts';
import type { RepairInForce } from './node/rule/settings-in-force.ts';
import { OWN_BLOCKS, repairInForce } from './common/settings.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { isGone, loadPool } from '../../shared/cluster/known-pool.ts';
import type { Configuration } from '../../shared/cluster/read-configuration.ts';
import { type KubernetesObject, qualifiedName } from '../../shared/domain/kubernetes-object.ts';
import { type NodeClaimView, TERMINATION_TIMESTAMP_ANNOTATION } from '../../shared/domain/node-claim.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isProtected } from '../../shared/domain/protection.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { basisOf } from '../../shared/lifecycle/refusals.ts';
import { LAST_REBOOT_ANNOTATION } from './node/rule/reboot-marks.ts';
import type { PolicySet } from '../../shared/policies/policy-set.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';

/** The settings in force for a pool, and the objects that they come from. */
export interface PoolSettings {
  readonly repair: RepairInForce;
  readonly nodePool: KubernetesObject | undefined;
  /** The NodePool, or its last known state if it was deleted: the protections that it granted still count. */
  readonly lastKnownPool: KubernetesObject | undefined;
  readonly policies: PolicySet;
  readonly config: Configuration;
}

/**
 * Reads the settings in force for a pool.
 * @param pool undefined: the nodes without a NodePool
 * @param seen the settings as this run read them before
 */
export async function loadPoolSettings(
  deps: PassDeps,
  pool: string | undefined,
  seen?: PoolSettings,
): Promise<PoolSettings> {
  const [config, lastKnownPool, [policies]] = await inParallel([
    loadConfig(OWNER, deps, seen?.config),
    loadPool(deps, pool),
    loadPolicySets(deps, OWNER, [OWN_BLOCKS]),
  ]);
  // Nothing is repaired for the sake of a NodePool that went.
  const nodePool = lastKnownPool && isGone(lastKnownPool) ? undefined : lastKnownPool;
  const { featureGates, providerPolicies } = config;
  const repair = repairInForce(nodePool, { policies, gateOpen: featureGates.nodeRepair, providerPolicies });
  return { repair, nodePool, lastKnownPool, policies, config };
}

/** Hash of the settings and NodeClaim fields that a try rests on. */
export const basisFor = (claim: NodeClaimView | undefined, { nodePool: pool, policies }: PoolSettings): string =>
  basisOf([
    // Each try sets one of these annotations.
    claim && {
      ...claim.annotations,
      [TERMINATION_TIMESTAMP_ANNOTATION]: undefined,
      [LAST_REBOOT_ANNOTATION]: undefined,
    },
    claim?.finalizers,
    pool?.spec,
    policies.policies.map(({ object }) => object.spec),
  ]);

/** The names of the pods that the settings in force for the pool protect. */
export function protectedNames(
  { lastKnownPool, policies }: PoolSettings,
  pods: readonly PodView[],
  now: EpochMs,
): readonly string[] {
  const { policy } = effectiveProtection(lastKnownPool, policies);
  return pods
    .filter(pod => isProtected(pod, now, policy))
    .map(qualifiedName)
    .toSorted();
}
