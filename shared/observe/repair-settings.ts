/**
 * Which repair block is in force for a pool: the NodePool's own wins over a NodeLifecyclePolicy, a more specific policy over a
 * general one, ties by name. Pure; the loading is in `policies.ts`.
 */
import { KARPENTER } from '../contract/names.ts';
import { parseNodePoolSelector, parsePolicyFrame, parseRepairBlock, type Mode } from '../contract/policy-schema.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { selects, specificity, type LabelSelector } from '../domain/label-selector.ts';
import type { RepairSettings } from '../domain/repair-policy.ts';

export interface ConfigurationFault {
  readonly object: KubernetesObject;
  readonly message: string;
}

export interface EffectiveRepair {
  /** undefined: no block applies; `invalid`: one applies that cannot be read. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: Mode;
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
}

/** A policy that cannot be read. */
export interface UnreadablePolicy extends ConfigurationFault {
  /** What it was meant for; undefined when that cannot be read either. */
  readonly selector: LabelSelector | undefined;
}

/** Policies that can be read, in order of precedence for any pool, and those that cannot. */
export interface PolicySet {
  readonly policies: readonly {
    readonly object: KubernetesObject;
    readonly selector: LabelSelector;
    readonly mode: Mode;
  }[];
  readonly faults: readonly UnreadablePolicy[];
}

const hasBlock = (object: KubernetesObject): boolean => object.spec?.['repair'] !== undefined;
const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

/** Reads all policies and orders them: more requirements first, then by name. */
export function readPolicies(objects: readonly KubernetesObject[]): PolicySet {
  const policies: { object: KubernetesObject; selector: LabelSelector; mode: Mode }[] = [];
  const faults: UnreadablePolicy[] = [];
  for (const object of objects) {
    const frame = parsePolicyFrame(object.spec);
    if (frame.ok) {
      policies.push({ object, selector: frame.value.nodePoolSelector, mode: frame.value.mode });
      continue;
    }
    const selector = parseNodePoolSelector(object.spec);
    faults.push({ object, message: frame.message, selector: selector.ok ? selector.value : undefined });
  }
  policies.sort(
    (a, b) =>
      specificity(b.selector) - specificity(a.selector) || (a.object.metadata.name < b.object.metadata.name ? -1 : 1),
  );
  return { policies, faults };
}

/** The policies that apply to the nodes of a pool, the one with the most requirements first. */
export function policiesFor(pool: KubernetesObject | undefined, { policies }: PolicySet): PolicySet['policies'] {
  return policies.filter(({ selector }) => appliesTo(selector, pool));
}

/** The policies that select the pool and cannot be read. */
export function unreadableFor(pool: KubernetesObject | undefined, { faults }: PolicySet): PolicySet['faults'] {
  return faults.filter(({ selector }) => selector !== undefined && appliesTo(selector, pool));
}

function appliesTo(selector: LabelSelector, pool: KubernetesObject | undefined): boolean {
  return pool === undefined ? specificity(selector) === 0 : selects(selector, pool.metadata.labels ?? {});
}

/**
 * The repair settings for the nodes of a pool. A node without a NodePool is reached only by a policy whose selector is empty.
 * A policy that selects the pool and cannot be read might forbid what the others allow, so nothing is repaired until it can be
 * (I6). One whose very selector cannot be read selects nothing. Both are reported on their own object.
 */
export function effectiveRepair(pool: KubernetesObject | undefined, policySet: PolicySet): EffectiveRepair {
  const applying = policiesFor(pool, policySet);
  const mode = applying[0]?.mode ?? 'Enforce';
  const unreadable = unreadableFor(pool, policySet);
  const holders = [...(pool ? [pool] : []), ...[...applying, ...unreadable].map(({ object }) => object)];
  const holder = holders.find(hasBlock);
  if (holder === undefined) return { settings: undefined, mode, source: undefined };
  const [fault] = unreadable;
  if (fault !== undefined) {
    const source = nameOf(fault.object);
    return { settings: { invalid: `${source}: ${fault.message}` }, mode, source };
  }
  const block = parseRepairBlock(holder.spec?.['repair'], 'spec.repair');
  const source = nameOf(holder);
  return { settings: block.ok ? block.value : { invalid: `${source}: ${block.message}` }, mode, source };
}

/** What is wrong with the repair block of one NodePool or policy, as a message for its author; undefined when it can be used. */
export function repairFault(object: KubernetesObject): string | undefined {
  const block = object.spec?.['repair'];
  if (block === undefined) return undefined;
  const parsed = parseRepairBlock(block, 'spec.repair');
  return parsed.ok ? undefined : parsed.message;
}

/** The name of the NodePool in an object's labels. */
export function nodePoolOf(object: { readonly labels?: Readonly<Record<string, string>> }): string | undefined {
  return object.labels?.[KARPENTER.nodePoolLabel];
}
