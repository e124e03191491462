/** Which `drain` block of the policies is in force for a pool. Pure, but for what is said of a block that cannot be read. */
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { NO_DRAIN_LIMITS, type LimitsInForce } from '../../shared/domain/drain-limits.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { reportBlockFaults } from '../../shared/policies/block-faults.ts';
import { enforcedFor, states, type BlockReader } from '../../shared/policies/deciding-policy.ts';
import { unreadableFor, type PolicySet } from '../../shared/policies/policy-set.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

/** How a `drain` block is read. */
const DRAIN: BlockReader = { block: 'drain', parse: parseDrainLimits };
/** What a drain goes by. */
export const DRAIN_BLOCKS = [DRAIN, PROTECTION] as const;

/** The limits of the pool's drains: of the policies that apply in mode Enforce those of the most specific one, ties by name. */
export function drainLimitsFor(pool: KubernetesObject | undefined, set: PolicySet): LimitsInForce {
  // One that selects the pool, or may, and does not say how many drains it allows, comes before what another one allows.
  const unsure = set.faults.filter(({ selector }) => selector === undefined);
  const unreadable = [...unreadableFor(pool, set), ...unsure].find(({ object }) => states(object, 'drain'));
  if (unreadable !== undefined) return cannotBeRead(unreadable.object, unreadable.message);
  const holder = enforcedFor(pool, 'drain', set);
  if (holder === undefined) return NO_DRAIN_LIMITS;
  const block = parseDrainLimits(holder.object.spec?.['drain'], 'spec.drain');
  return block.ok ? block.value : cannotBeRead(holder.object, block.message);
}

const cannotBeRead = ({ metadata }: KubernetesObject, message: string): string =>
  `NodeLifecyclePolicy ${metadata.name} cannot be read: ${message}`;

/** Says on the policy itself that its `drain` block cannot be used, or loses a tie. */
export async function reportDrainFaults(
  deps: Pick<FunctionDeps, 'kubernetes'>,
  reporter: Reporter,
  { uid, name }: Subject,
  isRepeated: boolean,
): Promise<void> {
  const set = await loadPolicies(deps);
  const found = [...set.policies, ...set.faults].find(({ object: { metadata } }) =>
    uid === undefined ? metadata.name === name : metadata.uid === uid,
  );
  if (found === undefined) return;
  const block = {
    name: 'drain',
    parse: parseDrainLimits,
    reason: EVENT_REASONS.invalidDrainConfiguration,
    effect:
      'the last version that could be read stays in force; without one no drain begins where it may apply until it is valid, but those that repair, a termination or a person asks for',
    isRepeated,
  } as const;
  await reportBlockFaults(reporter, found.object, set, block);
}
