/** Which policies apply to a NodePool, told from the raw objects: an answer of its own to what `shared/policies` decides. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, isFrameReadable, isSelected, isSelectorReadable, requirementsOf } from './reading.ts';
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

/** The mode of a pool, by its most specific policy. */
export const modeFor = (pool: KubernetesObject | undefined, policies: readonly KubernetesObject[]): unknown =>
  modeIn(applyingTo(pool, policies)[0]);

/** The repair block in force for a pool. */
export const repairBlockFor = (pool: KubernetesObject | undefined, policies: readonly KubernetesObject[]): unknown =>
  blockFor(pool, policies).block;

const modeIn = (policy: KubernetesObject | undefined): unknown => dig(policy, 'spec', 'mode') ?? 'Enforce';

/**
 * The pool's own block, else that of the most specific policy that selects the pool and has one, ties by name. Its mode is that of the
 * pool, but never above that of the policy that holds it.
 */
export function blockFor(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): { block: unknown; mode: unknown } {
  const applying = applyingTo(pool, policies);
  const own = dig(pool, 'spec', 'repair');
  if (own !== undefined) return { block: own, mode: modeIn(applying[0]) };
  const holder = applying.find(policy => dig(policy, 'spec', 'repair') !== undefined);
  const modes = [modeIn(applying[0]), modeIn(holder)];
  return { block: dig(holder, 'spec', 'repair'), mode: modes.find(mode => mode !== 'Enforce') ?? 'Enforce' };
}

/** The policies that select the pool, the most specific one first. */
export function applyingTo(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return policies
    .filter(policy => isSelecting(policy, pool))
    .toSorted((a, b) => {
      const requirements = (policy: KubernetesObject): number =>
        requirementsOf(dig(policy, 'spec', 'nodePoolSelector'));
      return requirements(b) - requirements(a) || (a.metadata.name < b.metadata.name ? -1 : 1);
    });
}

/** Nodes without a pool are selected by a selector without requirements; one that cannot be read selects nothing. */
export function isSelecting(policy: KubernetesObject, pool: KubernetesObject | undefined): boolean {
  const selector = dig(policy, 'spec', 'nodePoolSelector') ?? {};
  if (!isSelectorReadable(selector)) return false;
  return pool === undefined ? requirementsOf(selector) === 0 : isSelected(selector, pool.metadata.labels);
}
