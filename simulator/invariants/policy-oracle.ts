/** Which policies apply to a NodePool, told from the raw objects: an answer of its own to what `shared/policies` decides. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, fieldsOf, isFrameReadable, isSelected, isSelectorReadable, requirementsOf } from './reading.ts';
import { isLimitsReadable, isRepairReadable } from './repair-block.ts';

/** What a policy that only observes says binds nobody who enforces. */
export const isBindingReadable = (policy: KubernetesObject): boolean => {
  const limits = dig(policy, 'spec', 'repairLimits');
  return limits === undefined || modeIn(policy) !== 'Enforce' || isLimitsReadable(limits);
};

/** Frame, repair block and limits: what Curfew accepts as a whole or not at all. */
export function isPolicyReadable(policy: KubernetesObject): boolean {
  const block = dig(policy, 'spec', 'repair');
  const limits = dig(policy, 'spec', 'repairLimits');
  const isReadable = block === undefined || isRepairReadable(block);
  return isFrameReadable(policy) && isReadable && (limits === undefined || isLimitsReadable(limits));
}

/** In which mode a block of settings is in force for a pool: a mode belongs to its block, and a policy without a block is the brake. */
export function modeFor(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
  block: 'repair' | 'drain' | 'termination',
): unknown {
  const applying = applyingTo(pool, policies);
  const owner = applying.find(policy => dig(policy, 'spec', block) !== undefined);
  const brake = applying.find(policy => Object.keys(fieldsOf(policy.spec)).every(isNoBlock));
  const isBraked = owner === undefined || requirements(owner) < requirements(brake);
  return modeIn(brake) === 'Observe' && isBraked ? 'Observe' : modeIn(owner);
}

const isNoBlock = (key: string): boolean => key === 'mode' || key === 'nodePoolSelector';

const requirements = (policy: KubernetesObject | undefined): number =>
  requirementsOf(dig(policy, 'spec', 'nodePoolSelector'));

/** The repair block in force for a pool. */
export const repairBlockFor = (pool: KubernetesObject | undefined, policies: readonly KubernetesObject[]): unknown =>
  blockFor(pool, policies).block;

/** The repair block by which the nodes of a pool count for others: a block that is only observed changes nothing for those who enforce. */
export const enforcedBlockFor = (pool: KubernetesObject | undefined, policies: readonly KubernetesObject[]): unknown =>
  repairBlockFor(
    pool,
    policies.filter(policy => modeIn(policy) === 'Enforce' || dig(policy, 'spec', 'repair') === undefined),
  );

const modeIn = (policy: KubernetesObject | undefined): unknown => dig(policy, 'spec', 'mode') ?? 'Enforce';

/** The pool's own block, else that of the most specific policy that selects the pool and has one, ties by name; and its mode. */
export function blockFor(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): { block: unknown; mode: unknown } {
  const applying = applyingTo(pool, policies);
  const holder = applying.find(policy => dig(policy, 'spec', 'repair') !== undefined);
  return {
    block: dig(pool, 'spec', 'repair') ?? dig(holder, 'spec', 'repair'),
    mode: modeFor(pool, policies, 'repair'),
  };
}

/** The policies that select the pool, the most specific one first. */
export function applyingTo(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return policies
    .filter(policy => isSelecting(policy, pool))
    .toSorted((a, b) => requirements(b) - requirements(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Nodes without a pool are selected by a selector without requirements; one that cannot be read selects nothing. */
export function isSelecting(policy: KubernetesObject, pool: KubernetesObject | undefined): boolean {
  const selector = dig(policy, 'spec', 'nodePoolSelector') ?? {};
  if (!isSelectorReadable(selector)) return false;
  return pool === undefined ? requirementsOf(selector) === 0 : isSelected(selector, pool.metadata.labels);
}
