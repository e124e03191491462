/** Finds where the blocks of a policy are in force: which pools it selects, and what counts there. Pure. */
import { repairBlockInForce } from '../common/settings.ts';
import { type Block, BLOCKS, type PolicyInForce, type SelectedPool } from './rule/policy-facts.ts';
import { kindAndName, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { specificity } from '../../../shared/domain/label-selector.ts';
import { hasBlock, isBlockless, protectionDecisions } from '../../../shared/policies/deciding-policy.ts';
import { policiesFor, type PolicySet } from '../../../shared/policies/policy-set.ts';

/** One NodePool, or the nodes without one. */
export interface PoolCounts extends Pick<SelectedPool, 'nodes' | 'repairs' | 'claimsWithKarpenterFinalizer'> {
  readonly pool: KubernetesObject | undefined;
}

/** The policy as it is in force; undefined: no generation of it could be read. */
export function policyInForce(object: KubernetesObject, { policies }: PolicySet): PolicyInForce | undefined {
  const own = policies.find(each => isSame(each.object, object));
  return (
    own && {
      mode: own.mode,
      selectsByLabels: specificity(own.selector) > 0,
      blocks: BLOCKS.filter(block => hasBlock(own.object, block)),
      isBlockless: isBlockless(own.object),
    }
  );
}

/** The pools that the policy selects. */
export function selectedPools(
  policy: KubernetesObject,
  policySet: PolicySet,
  pools: readonly PoolCounts[],
): readonly SelectedPool[] {
  return pools
    .filter(({ pool }) => policiesFor(pool, policySet).some(({ object }) => isSame(object, policy)))
    .map(({ pool, ...counts }) => ({
      ...counts,
      name: pool?.metadata.name,
      isRepairedByPolicy: repairBlockInForce(pool, policySet).source === kindAndName(policy),
      blocksInForce: BLOCKS.filter(block =>
        policiesWith(pool, block, policySet).some(({ object }) => isSame(object, policy)),
      ),
    }));
}

const isSame = (a: KubernetesObject, b: KubernetesObject): boolean => a.metadata.uid === b.metadata.uid;

/**
 * The policies whose block counts for a pool: usually one. A protection that is only observed stands before one that
 * is in force.
 */
function policiesWith(pool: KubernetesObject | undefined, block: Block, policySet: PolicySet): PolicySet['policies'] {
  const stating = policiesFor(pool, policySet).filter(({ object }) => hasBlock(object, block));
  if (block === 'repairLimits') return stating;
  if (block === 'protection') {
    const { enforced, observed } = protectionDecisions(pool, policySet);
    return [enforced, observed].filter(each => each !== undefined);
  }
  return stating.slice(0, 1);
}
