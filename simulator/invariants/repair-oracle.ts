/**
 * When a node may be repaired, told from the raw objects: an answer of its own to the question that `functions/repair` decides
 * (docs/node-repair.md).
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { configurationOf } from './configuration.ts';
import { annotationOf, dig, instantOf, isFrameReadable, isSelectorReadable, millisecondsOf } from './reading.ts';
import { blockFor, isBindingReadable, isPolicyReadable, isSelecting } from './policy-oracle.ts';
import { isRepairReadable } from './repair-block.ts';
import { mostOf } from './repair-census.ts';
import { unhealthyConditionsOf, repairConditionsOf } from './repair-conditions.ts';

const DO_NOT_REPAIR = 'curfew.dev/do-not-repair';
const DO_NOT_REPAIR_OF_KARPENTER = 'karpenter.sh/do-not-repair';

/** What depends on the past, which an answer from the objects of one instant cannot know. Windows in milliseconds. */
export interface Past {
  readonly flapping?: { readonly window: number; readonly unhealthyFor: number };
  readonly futility?: { readonly window: number; readonly repairs: number };
  /** Neither conditions of the user nor a ladder: the past is that of the provider's conditions and of terminations. */
  readonly isPlain: boolean;
}

export interface RepairFacts {
  readonly now: number;
  readonly node: KubernetesObject;
  /** The NodeClaim of the node, if there is exactly one for certain; without one only its Auto Scaling group could replace it. */
  readonly claim: KubernetesObject | undefined;
  readonly pool: KubernetesObject | undefined;
  readonly policies: readonly KubernetesObject[];
  /** Policies, by UID, that could be read at some time: what was accepted last is in force. */
  readonly everReadable: ReadonlySet<string>;
  /** The nodes of the pool, of which limits may be a percentage. */
  readonly members: readonly KubernetesObject[];
  /** When an incident of the node began; undefined when its time cannot be read. */
  readonly sinceOf: (node: KubernetesObject, type: string, hasReason: boolean) => number | undefined;
  /** The provider's repair conditions that count. */
  readonly profile: string | undefined;
  /** Why the guards that count hold it, by the block in force; undefined: they let it pass. */
  readonly heldBy: (block: unknown) => string | undefined;
}

export type RepairAnswer =
  | { readonly kind: 'never'; readonly why: string }
  | {
      readonly kind: 'from';
      readonly time: number;
      readonly condition: string;
      readonly budget: number | undefined;
      /** The block has `flapping` or `futility`: by the past the node may be due before, or be held. */
      readonly past: Past;
    }
  /** By a guard that holds it, from that time on. */
  | { readonly kind: 'blocked'; readonly why: string; readonly time: number; readonly past: Past }
  /** Something stands there that this oracle does not know: it says neither yes nor no. */
  | { readonly kind: 'unknown' };

/** From when on the node may be repaired if nothing changes. */
export function repairAnswer(facts: RepairFacts): RepairAnswer {
  const { now, node, claim, pool, policies, everReadable, members, sinceOf, heldBy } = facts;
  const unreadable = policies.filter(policy => !isPolicyReadable(policy));
  const isUnclear = (policy: KubernetesObject): boolean =>
    everReadable.has(policy.metadata.uid) || !isSelectorReadable(dig(policy, 'spec', 'nodePoolSelector'));
  if (unreadable.some(isUnclear)) return { kind: 'unknown' };
  if (policies.some(policy => isSelecting(policy, pool) && !(isFrameReadable(policy) && isBindingReadable(policy)))) {
    return { kind: 'never', why: 'a policy for it cannot be read' };
  }
  const { block, mode } = blockFor(pool, policies);
  if (block === undefined) return { kind: 'never', why: 'no repair block applies' };
  if (mode !== 'Enforce') return { kind: 'never', why: `the mode is ${String(mode)}` };
  if (!isRepairReadable(block)) return { kind: 'never', why: 'the repair block cannot be read' };
  if (claim === undefined && dig(block, 'nodesWithoutNodeClaim') !== 'TerminateInAutoScalingGroup') {
    return { kind: 'never', why: 'no NodeClaim stands for it' };
  }

  let first: { time: number; condition: string } | undefined;
  for (const { type, status, toleration, reason } of unhealthyConditionsOf(
    node,
    repairConditionsOf(block, facts.profile),
  )) {
    const since = sinceOf(node, type, reason !== undefined);
    if (since === undefined) continue;
    const time = since + Math.ceil(toleration);
    if (first === undefined || time < first.time) first = { time, condition: `${type}=${status}` };
  }
  if (first === undefined) return { kind: 'never', why: 'the node is healthy' };

  const { time } = first;
  const past = pastOf(block);
  const blocked = (why: string): RepairAnswer => ({ kind: 'blocked', why, time, past });
  const vetoes = [node, claim, pool].flatMap(object => (object === undefined ? [] : vetoEnd(object)));
  const isVetoed = [node, claim].some(object => object && annotationOf(object, DO_NOT_REPAIR_OF_KARPENTER) === 'true');
  if (isVetoed || vetoes.some(end => end > now)) return blocked('it is vetoed');
  if (mostOf(dig(block, 'maxUnhealthy') ?? '20%', members.length) === undefined)
    return { kind: 'never', why: 'maxUnhealthy cannot be read' };
  const held = heldBy(block);
  if (held !== undefined) return blocked(held);
  const limit = dig(block, 'maxConcurrentRepairs');
  const budget = limit === undefined ? undefined : mostOf(limit, members.length);
  return { kind: 'from', ...first, budget, past };
}

/** The block can be read. */
function pastOf(block: unknown): Past {
  const [flapping, futility] = [dig(block, 'flapping'), dig(block, 'futility')];
  const duration = (value: unknown): number => millisecondsOf(value) ?? Infinity;
  return {
    ...(flapping !== undefined && {
      flapping: { window: duration(dig(flapping, 'window')), unhealthyFor: duration(dig(flapping, 'unhealthyFor')) },
    }),
    ...(futility !== undefined && {
      futility: { window: duration(dig(futility, 'window')), repairs: Number(dig(futility, 'repairs')) },
    }),
    isPlain: dig(block, 'conditions') === undefined && dig(block, 'actions') === undefined,
  };
}

/** Until when the object's veto holds. */
function vetoEnd(object: KubernetesObject): readonly number[] {
  const value = annotationOf(object, DO_NOT_REPAIR);
  return value === undefined ? [] : [instantOf(value) ?? Infinity];
}

/** Whether the configuration opens the gate; undefined when it cannot be read. */
export function isGateOpen(configMap: KubernetesObject | undefined): boolean | undefined {
  const text = dig(configMap, 'data', 'config.toml');
  if (typeof text !== 'string') return false;
  const config = configurationOf(configMap);
  if (config === undefined) return undefined;
  const gate = dig(config, 'featureGates', 'nodeRepair') ?? false;
  return typeof gate === 'boolean' ? gate : undefined;
}
