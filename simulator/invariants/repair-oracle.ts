/**
 * When a node may be repaired, told from the raw objects: an answer of its own to the question that `functions/repair` decides
 * (design "Node auto repair", DESIGN §3.1).
 */
import { parse as parseToml } from 'smol-toml';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  annotationOf,
  dig,
  fieldsOf,
  instantOf,
  isFrameReadable,
  isSelected,
  isSelectorReadable,
  labelOf,
  listOf,
  millisecondsOf,
  requirementsOf,
  textOf,
  type Fields,
} from './reading.ts';

const DO_NOT_REPAIR = 'curfew.dev/do-not-repair';
const POOL_LABEL = 'karpenter.sh/nodepool';
const MINUTE = 60_000;

/** Condition type, its status that means trouble, the provider's toleration. */
const WATCHED: readonly (readonly [string, string, number])[] = [
  ['AcceleratedHardwareReady', 'False', 10 * MINUTE],
  ['ContainerRuntimeReady', 'False', 30 * MINUTE],
  ['KernelReady', 'False', 30 * MINUTE],
  ['NetworkUnavailable', 'True', 30 * MINUTE],
  ['NetworkingReady', 'False', 30 * MINUTE],
  ['Ready', 'False', 30 * MINUTE],
  ['Ready', 'Unknown', 30 * MINUTE],
  ['StorageReady', 'False', 30 * MINUTE],
];

const KNOWN_FIELDS: readonly string[] = ['defaultTolerationDuration', 'policies', 'maxUnhealthy'];

export interface RepairFacts {
  readonly node: KubernetesObject;
  readonly pool: KubernetesObject | undefined;
  readonly policies: readonly KubernetesObject[];
  /** The nodes that the threshold counts. */
  readonly neighbours: readonly KubernetesObject[];
}

export type RepairAnswer =
  | { readonly kind: 'never'; readonly why: string }
  | { readonly kind: 'from'; readonly time: number; readonly condition: string }
  | { readonly kind: 'blocked'; readonly why: string }
  /** Something stands there that this oracle does not know: it says neither yes nor no. */
  | { readonly kind: 'unknown' };

export const poolNameOf = (object: KubernetesObject): string | undefined => labelOf(object, POOL_LABEL);

export function isUnhealthy(node: KubernetesObject): boolean {
  return WATCHED.some(([type, status]) => conditionOf(node, type)?.['status'] === status);
}

/** From when on the node may be repaired if nothing changes. */
export function repairAnswer({ node, pool, policies, neighbours }: RepairFacts): RepairAnswer {
  if (policies.some(policy => isSelecting(policy, pool) && !isFrameReadable(policy))) {
    return { kind: 'never', why: 'a policy for it cannot be read' };
  }
  // A veto, or a policy that is meant for who knows whom.
  const isVetoed = [node, pool].some(
    object => object !== undefined && annotationOf(object, DO_NOT_REPAIR) !== undefined,
  );
  const isClear = policies.every(policy => isSelectorReadable(dig(policy, 'spec', 'nodePoolSelector')));
  if (isVetoed || !isClear) return { kind: 'unknown' };
  const { block, mode } = blockFor(pool, policies);
  if (block === undefined) return { kind: 'never', why: 'no repair block applies' };
  if (mode !== 'Enforce') return { kind: 'never', why: `the mode is ${String(mode)}` };
  if (!isReadable(block)) return { kind: 'never', why: 'the repair block cannot be read' };
  if (Object.keys(fieldsOf(block)).some(key => !KNOWN_FIELDS.includes(key))) return { kind: 'unknown' };
  const tolerations = new Map<string, number | undefined>();
  for (const policy of listOf(dig(block, 'policies'))) {
    tolerations.set(String(dig(policy, 'conditionType')), millisecondsOf(dig(policy, 'toleration')));
  }
  const fallback = dig(block, 'defaultTolerationDuration');
  const unreadable = [...tolerations.values()].some(value => value === undefined || value < 0);
  if (unreadable || (fallback !== undefined && !((millisecondsOf(fallback) ?? -1) >= 0))) {
    return { kind: 'never', why: 'the repair block cannot be read' };
  }

  let first: { time: number; condition: string } | undefined;
  for (const [type, status, providers] of WATCHED) {
    const condition = conditionOf(node, type);
    const since = instantOf(condition?.['lastTransitionTime']);
    if (condition?.['status'] !== status || since === undefined) continue;
    const time = since + Math.ceil(tolerations.get(type) ?? millisecondsOf(fallback) ?? providers);
    if (first === undefined || time < first.time) first = { time, condition: `${type}=${status}` };
  }
  if (first === undefined) return { kind: 'never', why: 'the node is healthy' };

  const unhealthy = neighbours.filter(isUnhealthy).length;
  const most = mostUnhealthy(dig(block, 'maxUnhealthy') ?? '20%', neighbours.length);
  if (most === undefined) return { kind: 'never', why: 'maxUnhealthy cannot be read' };
  if (unhealthy > most)
    return { kind: 'blocked', why: `${unhealthy} of ${neighbours.length} are unhealthy, ${most} may be` };
  return { kind: 'from', ...first };
}

const ENTRY_FIELDS: readonly string[] = ['conditionType', 'toleration'];

/** A block of the right shape, entries included. */
function isReadable(block: unknown): boolean {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return false;
  const policies = dig(block, 'policies') ?? [];
  return (
    Array.isArray(policies) &&
    policies.every(policy => textOf(dig(policy, 'conditionType')) !== undefined) &&
    policies.every(policy => Object.keys(fieldsOf(policy)).every(key => ENTRY_FIELDS.includes(key))) &&
    policies.length === new Set(policies.map(policy => dig(policy, 'conditionType'))).size
  );
}

function conditionOf(node: KubernetesObject, type: string): Fields | undefined {
  return listOf(dig(node, 'status', 'conditions'))
    .map(fieldsOf)
    .find(condition => condition['type'] === type);
}

/** The pool's own block, else that of the most specific policy that selects the pool and has one, ties by name. */
function blockFor(
  pool: KubernetesObject | undefined,
  policies: readonly KubernetesObject[],
): { block: unknown; mode: unknown } {
  const applying = policies
    .filter(policy => isSelecting(policy, pool))
    .toSorted((a, b) => {
      const requirements = (policy: KubernetesObject): number =>
        requirementsOf(dig(policy, 'spec', 'nodePoolSelector'));
      return requirements(b) - requirements(a) || (a.metadata.name < b.metadata.name ? -1 : 1);
    });
  const mode = dig(applying[0], 'spec', 'mode') ?? 'Enforce';
  const own = dig(pool, 'spec', 'repair');
  if (own !== undefined) return { block: own, mode };
  return { block: applying.map(policy => dig(policy, 'spec', 'repair')).find(block => block !== undefined), mode };
}

function isSelecting(policy: KubernetesObject, pool: KubernetesObject | undefined): boolean {
  const selector = dig(policy, 'spec', 'nodePoolSelector') ?? {};
  if (!isSelectorReadable(selector)) return false;
  return pool === undefined ? requirementsOf(selector) === 0 : isSelected(selector, pool.metadata.labels);
}

function mostUnhealthy(limit: unknown, total: number): number | undefined {
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
