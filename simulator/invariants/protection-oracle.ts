/** Until when a pod is protected, told from the raw objects: an answer of its own to what `shared/domain/protection.ts` decides. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mirror } from './mirror.ts';
import {
  annotationOf,
  dig,
  fieldsOf,
  instantOf,
  isDuration,
  isFrameReadable,
  isListOf,
  isObjectOf,
  isOneOf,
  isSelected,
  isSelectorReadable,
  isTextOf,
  listOf,
  millisecondsOf,
  poolNameOf,
  rememberedPart,
  requirementsOf,
  textOf,
} from './reading.ts';

/** What decides about a pod beside the pod. */
export interface ProtectionFacts {
  /** The NodePool of the pod's node. */
  readonly pool: KubernetesObject | undefined;
  readonly policies: readonly KubernetesObject[];
}

/** Epoch milliseconds, Infinity for a protection without end, undefined for none. */
export function protectionEnd(pod: KubernetesObject, facts: ProtectionFacts): number | undefined {
  const value = annotationOf(pod, 'karpenter.sh/do-not-disrupt');
  const phase = dig(pod, 'status', 'phase');
  if (value === undefined || phase === 'Succeeded' || phase === 'Failed') return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const block = blockFor(facts);
  const underDesign = (cap: number): number => {
    const start = instantOf(pod.metadata.creationTimestamp);
    return endOf(start, Math.min(durationOf(value) ?? Infinity, cap));
  };
  const underKarpenter = (cap: number): number | undefined => {
    if (value !== 'true' && durationOf(value) === undefined) return undefined;
    return endOf(instantOf(dig(pod, 'status', 'startTime')), Math.min(durationOf(value) ?? Infinity, cap));
  };
  // What cannot be read takes no protection away.
  if (block !== undefined && !isProtectionReadable(block))
    return Math.max(underDesign(Infinity), underKarpenter(Infinity) ?? 0);
  const own = listOf(dig(block, 'namespaces')).find(entry => dig(entry, 'name') === pod.metadata.namespace);
  const cap = millisecondsOf(dig(own, 'maxDuration') ?? dig(block, 'maxDuration')) ?? Infinity;
  return dig(block, 'compatibility') === 'Karpenter' ? underKarpenter(cap) : underDesign(cap);
}

const endOf = (start: number | undefined, duration: number): number =>
  start === undefined || duration === Infinity ? Infinity : start + duration;

/** Whole milliseconds, rounded up; undefined for what is no positive duration. */
function durationOf(value: string): number | undefined {
  if (Buffer.byteLength(value) > 256) return undefined;
  const duration = millisecondsOf(value);
  return duration !== undefined && duration > 0 ? Math.ceil(duration) : undefined;
}

const isShaped = isObjectOf({
  compatibility: isOneOf('Design', 'Karpenter'),
  maxDuration: isDuration(1),
  warnBefore: isDuration(1),
  namespaces: isListOf(isObjectOf({ name: isTextOf(63), maxDuration: isDuration(1) }, ['name', 'maxDuration']), 256),
});

/** Whether Curfew must accept a `protection` block. */
export const isProtectionReadable = rememberedPart((block: unknown): boolean => {
  const { maxDuration, warnBefore, namespaces } = fieldsOf(block);
  const names = listOf(namespaces).map(entry => dig(entry, 'name'));
  const isInTime = (millisecondsOf(warnBefore) ?? 0) <= (millisecondsOf(maxDuration) ?? Infinity);
  return isShaped(block) && isInTime && new Set(names).size === names.length;
});

const UNREADABLE = { 'cannot be read': true };

/** The `protection` block of the most specific policy that selects the pool, ties by name; unless one of them cannot be read. */
const blockFor = rememberedPart(({ pool, policies }: ProtectionFacts): unknown => {
  const requirements = (policy: KubernetesObject): number => requirementsOf(dig(policy, 'spec', 'nodePoolSelector'));
  const holders = policies
    .filter(policy => dig(policy, 'spec', 'protection') !== undefined)
    // What is only observed changes no protection; a mode that came with a block that cannot be read is not in force.
    .filter(({ spec }) => dig(spec, 'mode') !== 'Observe' || !isProtectionReadable(dig(spec, 'protection')))
    .filter(policy => isSelectorReadable(dig(policy, 'spec', 'nodePoolSelector')))
    .filter(policy =>
      pool === undefined
        ? requirements(policy) === 0
        : isSelected(dig(policy, 'spec', 'nodePoolSelector'), pool.metadata.labels),
    );
  if (!holders.every(isFrameReadable)) return UNREADABLE;
  return holders
    .toSorted((a, b) => requirements(b) - requirements(a) || (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(policy => dig(policy, 'spec', 'protection'))[0];
});

/** The facts about the pods of a node, as the cluster is now; a NodePool that went leaves in force what it had. */
export function protectionFactsOf(node: KubernetesObject | undefined, mirror: Mirror): ProtectionFacts {
  const poolName = node && poolNameOf(node);
  return {
    pool: mirror.lastPools().get(poolName ?? ''),
    policies: [...mirror.all('nodelifecyclepolicies').values()],
  };
}

export const nodeNameOf = (pod: KubernetesObject): string | undefined => textOf(dig(pod, 'spec', 'nodeName'));
