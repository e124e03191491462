/**
 * Finds the policy that decides about one block of settings in one pool, and in which mode. A mode belongs to its
 * block: a policy that states some block says nothing about the others, and a policy that states none is the brake.
 * Every concern asks here. Pure.
 */
import { type Mode, type ParseResult, parsePolicyFrame } from '../contract/policy-schema.ts';
import { kindAndName, type KubernetesObject } from '../domain/kubernetes-object.ts';
import { specificity } from '../domain/label-selector.ts';
import {
  isForgotten,
  policiesFor,
  unreadablePolicyThatMaySelect,
  type ConfigurationFault,
  type PolicySet,
  type ReadPolicy,
} from './policy-set.ts';

/** A key of a policy's `spec` that is a block. */
export type Block = 'repair' | 'repairLimits' | 'drain' | 'termination' | 'protection';

/** A reader of one block. */
export interface BlockReader {
  readonly block: Block;
  readonly parse: (block: unknown, path: string) => ParseResult<unknown>;
}

export interface BlockDecision {
  /** The policy whose block is in force; undefined: none states it. A NodePool's own block comes before it. */
  readonly policy: ReadPolicy | undefined;
  readonly mode: Mode;
  /** The policy whose mode that is; undefined: none says anything, so `Enforce` applies. */
  readonly modePolicy: ReadPolicy | undefined;
  /** The brake alone makes it `Observe`: nothing begins, and what has begun goes on. */
  readonly isBraked: boolean;
}

/** These are no blocks: they say where the blocks apply, and how. */
const FRAME_KEYS: readonly string[] = ['nodePoolSelector', 'mode'];

/** Whether the policy has the block, readable or not. */
export const hasBlock = ({ spec }: Pick<KubernetesObject, 'spec'>, block: Block): boolean =>
  spec?.[block] !== undefined;

/** The faults of selector, mode or these blocks of a policy, for its author; undefined when nothing is. */
export function faultIn({ spec }: Pick<KubernetesObject, 'spec'>, blocks: readonly BlockReader[]): string | undefined {
  const own = blocks.map(({ block, parse }) => spec?.[block] !== undefined && parse(spec[block], `spec.${block}`));
  const faults = [parsePolicyFrame(spec), ...own].flatMap(part => (part === false || part.ok ? [] : [part.message]));
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** Whether the policy has no block at all. */
export const isBlockless = ({ spec = {} }: Pick<KubernetesObject, 'spec'>): boolean =>
  Object.entries(spec).every(([key, value]) => FRAME_KEYS.includes(key) || value === undefined);

/**
 * The most specific policy that states the block, with its own mode. The brake in mode `Observe` stops what no policy states that is at
 * least as specific as the brake; of several brakes the most specific one counts. For `protection` ask `protectionDecisions`.
 *
 * @param pool undefined: the nodes without a NodePool
 */
export function decisionFor(
  pool: KubernetesObject | undefined,
  block: Exclude<Block, 'protection'>,
  policySet: PolicySet,
): BlockDecision {
  const applying = policiesFor(pool, policySet);
  const policy = applying.find(({ object }) => hasBlock(object, block));
  const brake = applying.find(({ object }) => isBlockless(object));
  const isBrakeNearer =
    brake?.mode === 'Observe' && (policy === undefined || specificity(brake.selector) > specificity(policy.selector));
  const modePolicy = isBrakeNearer ? brake : (policy ?? brake);
  return {
    policy,
    mode: modePolicy?.mode ?? 'Enforce',
    modePolicy,
    isBraked: isBrakeNearer && policy?.mode !== 'Observe',
  };
}

/**
 * The object that keeps the settings of a block in a pool from being known (I6): a policy that cannot be read and may select it, or the pool
 * itself, which is gone and forgotten while a policy selects by labels. undefined: they are known.
 */
export function unknownSettingsFault(
  pool: KubernetesObject | undefined,
  block: Block,
  policySet: PolicySet,
): ConfigurationFault | undefined {
  const unreadable = unreadablePolicyThatMaySelect(pool, policySet);
  if (unreadable !== undefined || pool === undefined || !isForgotten(pool)) return unreadable;
  const mayDecide = ({ object }: ConfigurationFault | ReadPolicy): boolean =>
    hasBlock(object, block) || isBlockless(object);
  const nearer = selective(policySet).find(mayDecide);
  return (
    nearer && {
      object: pool,
      message: `it is gone, and its labels are not known, by which ${kindAndName(nearer.object)} may select it`,
    }
  );
}

/** The policies that select by labels, as far as their selectors can be read. */
export const selective = ({ policies, faults }: PolicySet): readonly (ConfigurationFault | ReadPolicy)[] =>
  [...policies, ...faults].filter(({ selector }) => selector !== undefined && specificity(selector) > 0);

/**
 * The most specific policy that states the block in mode `Enforce`: whose limits bind what is under way. One that only observes neither
 * sets nor lifts a limit.
 */
export const enforcedPolicyFor = (
  pool: KubernetesObject | undefined,
  block: Block,
  policySet: PolicySet,
): ReadPolicy | undefined =>
  policiesFor(pool, policySet).find(({ object, mode }) => mode === 'Enforce' && hasBlock(object, block));

/**
 * Finds the policy that decides about protection: the most specific one that states it in mode `Enforce`. One in mode
 * `Observe` neither shortens nor lengthens any protection, so it is as if it were not there; the brake says nothing of
 * it either.
 *
 * @returns `observed`: the policy that would decide if it were enforced
 */
export function protectionDecisions(
  pool: KubernetesObject | undefined,
  policySet: PolicySet,
): { readonly enforced: ReadPolicy | undefined; readonly observed: ReadPolicy | undefined } {
  const first = policiesFor(pool, policySet).find(({ object }) => hasBlock(object, 'protection'));
  return {
    enforced: enforcedPolicyFor(pool, 'protection', policySet),
    observed: first?.mode === 'Observe' ? first : undefined,
  };
}
