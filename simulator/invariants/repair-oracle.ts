/**
 * When a node may be repaired, told from the raw objects: an answer of its own to the question that `functions/repair` decides
 * (docs/node-repair.md).
 */
import { RE2JS } from 're2js';
import { parse as parseToml } from 'smol-toml';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { conditionOf, WATCHED } from './illnesses.ts';
import {
  annotationOf,
  dig,
  instantOf,
  isFrameReadable,
  isSelectorReadable,
  labelOf,
  listOf,
  millisecondsOf,
  textOf,
  type Fields,
} from './reading.ts';
import { blockFor, isBindingReadable, isPolicyReadable, isSelecting } from './policy-oracle.ts';
import { isRepairReadable } from './repair-block.ts';

const DO_NOT_REPAIR = 'curfew.dev/do-not-repair';
const ZONE_LABEL = 'topology.kubernetes.io/zone';

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
  /** The nodes that the threshold counts. */
  readonly neighbours: readonly KubernetesObject[];
  /** All nodes of the cluster. */
  readonly nodes: readonly KubernetesObject[];
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
  const { now, node, claim, pool, policies, everReadable, neighbours, nodes } = facts;
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

  const watched = watchedBy(block);
  let first: { time: number; condition: string } | undefined;
  for (const [type, status, toleration, reason] of watched) {
    const condition = conditionOf(node, type);
    const since = instantOf(condition?.['lastTransitionTime']);
    if (condition?.['status'] !== status || since === undefined || !hasReason(condition, reason)) continue;
    const time = since + Math.ceil(toleration);
    if (first === undefined || time < first.time) first = { time, condition: `${type}=${status}` };
  }
  if (first === undefined) return { kind: 'never', why: 'the node is healthy' };

  const { time } = first;
  const past = pastOf(block);
  const blocked = (why: string): RepairAnswer => ({ kind: 'blocked', why, time, past });
  const vetoes = [node, claim, pool].flatMap(object => (object === undefined ? [] : vetoEnd(object)));
  if (vetoes.some(end => end > now)) return blocked('it is vetoed');
  const isIll = (other: KubernetesObject): boolean =>
    watched.some(([type, status, , reason]) => {
      const condition = conditionOf(other, type);
      return condition?.['status'] === status && hasReason(condition, reason);
    });
  const unknown = nodes.filter(other => conditionOf(other, 'Ready')?.['status'] === 'Unknown').length;
  if (isOutage(dig(block, 'freeze'), unknown, nodes.length)) {
    return blocked(`${unknown} of ${nodes.length} nodes of the cluster are Unknown`);
  }
  const zone = labelOf(node, ZONE_LABEL);
  const there = zone === undefined ? [] : nodes.filter(other => labelOf(other, ZONE_LABEL) === zone);
  const illThere = there.filter(isIll).length;
  if (isOutage(dig(block, 'zoneOutage'), illThere, there.length)) {
    return blocked(`${illThere} of ${there.length} nodes of its zone are unhealthy`);
  }
  const unhealthy = neighbours.filter(isIll).length;
  const most = mostNodes(dig(block, 'maxUnhealthy') ?? '20%', neighbours.length);
  if (most === undefined) return { kind: 'never', why: 'maxUnhealthy cannot be read' };
  if (unhealthy > most) return blocked(`${unhealthy} of ${neighbours.length} are unhealthy, ${most} may be`);
  const limit = dig(block, 'maxConcurrentRepairs');
  const budget = limit === undefined ? undefined : mostNodes(limit, neighbours.length);
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

/** Type, status, toleration in force, and what the reason must match. */
function watchedBy(block: unknown): readonly (readonly [string, string, number, RE2JS | undefined])[] {
  const tolerations = new Map<string, number | undefined>();
  for (const policy of listOf(dig(block, 'policies'))) {
    tolerations.set(String(dig(policy, 'conditionType')), millisecondsOf(dig(policy, 'toleration')));
  }
  const fallback = millisecondsOf(dig(block, 'defaultTolerationDuration'));
  const own = listOf(dig(block, 'conditions')).map(entry => {
    const reason = textOf(dig(entry, 'reason'));
    const toleration = millisecondsOf(dig(entry, 'toleration')) ?? Infinity;
    const pattern = reason === undefined ? undefined : RE2JS.compile(reason);
    return [String(dig(entry, 'type')), String(dig(entry, 'status')), toleration, pattern] as const;
  });
  const provided = WATCHED.map(
    ([type, status, providers]) => [type, status, tolerations.get(type) ?? fallback ?? providers, undefined] as const,
  );
  return [...provided, ...own];
}

const hasReason = (condition: Fields, pattern: RE2JS | undefined): boolean =>
  pattern === undefined || pattern.test(textOf(condition['reason']) ?? '');

/** At least 3 nodes and 55 %, unless the block says otherwise. */
function isOutage(rule: unknown, affected: number, total: number): boolean {
  if (rule === 'Off' || rule === false) return false;
  const least = dig(rule, 'minNodes') ?? 3;
  const share = Number(/^(\d+)%$/.exec(textOf(dig(rule, 'share')) ?? '55%')?.[1]);
  return affected >= Number(least) && affected * 100 >= share * total;
}

/** A number, or a percentage that is rounded up; undefined: there is none, or it cannot be read. */
export function mostNodes(limit: unknown, total: number): number | undefined {
  if (typeof limit === 'number') return Number.isInteger(limit) && limit >= 0 ? limit : undefined;
  const percent = /^(\d+)%$/.exec(textOf(limit) ?? '')?.[1];
  if (percent === undefined || Number(percent) > 100) return undefined;
  return Math.ceil((Number(percent) * total) / 100 - 1e-9);
}

/** Whether the configuration opens the gate; undefined when it cannot be read. */
export function isGateOpen(configMap: KubernetesObject | undefined): boolean | undefined {
  const text = dig(configMap, 'data', 'config.toml');
  if (typeof text !== 'string') return false;
  let config: unknown;
  try {
    config = parseToml(text);
  } catch {
    return undefined;
  }
  const gate = dig(config, 'featureGates', 'nodeRepair') ?? false;
  return typeof gate === 'boolean' ? gate : undefined;
}
