/**
 * NodeLifecyclePolicies as a set: which apply to a pool, in which order. A more specific policy comes before a general one, ties by
 * name. Pure.
 */
import { parseNodePoolSelector, parsePolicyFrame, type Mode } from '../contract/policy-schema.ts';
import { kindAndName, type KubernetesObject } from '../domain/kubernetes-object.ts';
import { selects, specificity, type LabelSelector } from '../domain/label-selector.ts';

export interface ConfigurationFault {
  readonly object: KubernetesObject;
  readonly message: string;
}

/** A policy that cannot be read. */
export interface UnreadablePolicy extends ConfigurationFault {
  /** The pools that it was meant for; undefined if that cannot be read either. */
  readonly selector: LabelSelector | undefined;
}

/** A policy whose selector and mode can be read. */
export interface ReadPolicy {
  readonly object: KubernetesObject;
  readonly selector: LabelSelector;
  readonly mode: Mode;
}

/** The fault in words: the object that has it, and what is wrong. */
export const faultText = ({ object, message }: ConfigurationFault): string => `${kindAndName(object)}: ${message}`;

/** Policies that can be read, in order of precedence for any pool, and those that cannot. */
export interface PolicySet {
  readonly policies: readonly ReadPolicy[];
  readonly faults: readonly UnreadablePolicy[];
}

/** Reads all policies and orders them: more requirements first, then by name. */
export function readPolicies(objects: readonly KubernetesObject[]): PolicySet {
  const policies: ReadPolicy[] = [];
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
export function unreadablePoliciesFor(pool: KubernetesObject | undefined, { faults }: PolicySet): PolicySet['faults'] {
  return faults.filter(({ selector }) => selector !== undefined && appliesTo(selector, pool));
}

/**
 * A policy that cannot be read and may select the pool: it does, or its very selector cannot be read. What it says of the pool is not known,
 * so that nothing destructive begins there (I6).
 */
export function unreadablePolicyThatMaySelect(
  pool: KubernetesObject | undefined,
  { faults }: PolicySet,
): UnreadablePolicy | undefined {
  return faults.find(({ selector }) => selector === undefined || appliesTo(selector, pool));
}

/** UID of what stands for a NodePool that is gone, and of which nobody remembers the labels. */
export const FORGOTTEN_UID = 'forgotten';

/** Whether the NodePool is gone and forgotten: each policy that selects by labels may have been for it. */
export const isForgotten = ({ metadata }: KubernetesObject): boolean => metadata.uid === FORGOTTEN_UID;

function appliesTo(selector: LabelSelector, pool: KubernetesObject | undefined): boolean {
  if (pool === undefined || isForgotten(pool)) return specificity(selector) === 0;
  return selects(selector, pool.metadata.labels ?? {});
}
