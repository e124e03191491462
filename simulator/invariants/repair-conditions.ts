/** Which conditions a repair block takes for an incident, how long it tolerates them and what is done about them: told from the raw block. */
import { RE2JS } from 're2js';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { configurationOf } from './configuration.ts';
import { conditionOf, WATCHED } from './unhealthy-conditions.ts';
import { dig, listOf, millisecondsOf, textOf } from './reading.ts';

const MINUTE = 60_000;

export interface RepairCondition {
  readonly type: string;
  readonly status: string;
  /** Milliseconds. */
  readonly toleration: number;
  readonly reason?: RE2JS | undefined;
  readonly priority: number;
  /** How long pods have: milliseconds, or what the NodeClaim says. */
  readonly bound: number | 'Inherit';
  /** What EC2 must call impaired before an act. */
  readonly confirm?: string | undefined;
  /** The raw list. */
  readonly actions: unknown;
  /** A user's entry with a reason counts before one of the provider, and that before one without. */
  readonly rank: number;
}

/** Reason, toleration and bound in minutes, and whether a reboot comes first. */
type Provided = readonly [type: string, status: string, reason: string | undefined, number, number, boolean];

/** Karpenter's provider for AWS, 1.15.1. */
const AWS_1_15: readonly Provided[] = [
  ...['ContainerRuntimeReady', 'KernelReady', 'NetworkingReady', 'Ready', 'StorageReady'].map((type): Provided => [
    type,
    'False',
    undefined,
    30,
    10,
    false,
  ]),
  ['Ready', 'Unknown', undefined, 30, 10, false],
  ['NetworkUnavailable', 'True', undefined, 30, 0, false],
  ['AcceleratedHardwareReady', 'False', 'XID(46|48|54|62|63|95|109|110|136|140|143|155|156|158)', 10, 5, true],
  ['AcceleratedHardwareReady', 'False', 'XID(64|74|79|119|120)', 10, 5, false],
  ['AcceleratedHardwareReady', 'False', undefined, 30, 10, false],
];
const AWS_1_14 = WATCHED.map(([type, status, ms]): Provided => [type, status, undefined, ms / MINUTE, 0, false]);
const REBOOT_FIRST = [{ type: 'Reboot', timeout: '20m' }, { type: 'Terminate' }];

/** The provider's profile that a configuration names; undefined: none, or it cannot be read. */
export function profileOf(configMap: KubernetesObject | undefined): string | undefined {
  return textOf(dig(configurationOf(configMap), 'providerPolicies'));
}

/** A toleration of a year and more takes the repair condition out, and with a reason what it matches. */
const YEAR = 8_760 * 3_600_000;

/** One with a reason, which takes out what it matches and counts nowhere itself. */
export const isToleratedForEver = ({ toleration }: RepairCondition): boolean => toleration >= YEAR;

const tolerationOf = (value: unknown): number | undefined =>
  value === 'Never' ? Infinity : (millisecondsOf(value) ?? undefined);
const boundOf = (value: unknown): number | 'Inherit' | undefined =>
  value === 'Inherit' ? value : (millisecondsOf(value) ?? undefined);
const compiled = (value: unknown): RE2JS | undefined => {
  const pattern = textOf(value);
  return pattern === undefined ? undefined : RE2JS.compile(pattern);
};

/** Objects of the API server never change: what was made of one is right for good. */
const madeOf = new WeakMap<object, Map<string | undefined, readonly RepairCondition[]>>();

/** Those that count: without a block the provider's. */
export function repairConditionsOf(block: unknown, profile?: string): readonly RepairCondition[] {
  if (typeof block !== 'object' || block === null) return readRepairConditions(undefined, profile);
  const known = madeOf.get(block) ?? new Map<string | undefined, readonly RepairCondition[]>();
  madeOf.set(block, known);
  const repairConditions = known.get(profile) ?? readRepairConditions(block, profile);
  known.set(profile, repairConditions);
  return repairConditions;
}

function readRepairConditions(block: unknown, profile: string | undefined): readonly RepairCondition[] {
  const provided = profile === 'aws-1.15' ? AWS_1_15 : AWS_1_14;
  const overrides = listOf(dig(block, 'policies'));
  const own = listOf(dig(block, 'conditions'));
  const fallback = tolerationOf(dig(block, 'defaultTolerationDuration'));
  const isPlainFor = (entry: unknown, key: string, type: string): boolean =>
    dig(entry, 'reason') === undefined && dig(entry, key) === type;
  const isReplaced = (type: string): boolean => own.some(entry => isPlainFor(entry, 'type', type));
  const isOverridden = (type: string): boolean => overrides.some(entry => isPlainFor(entry, 'conditionType', type));
  const fromProvider = provided
    .filter(([type]) => !isReplaced(type) && !isOverridden(type))
    .map(([type, status, reason, toleration, bound, reboots]): RepairCondition => ({
      type,
      status,
      reason: compiled(reason),
      toleration: fallback ?? toleration * MINUTE,
      priority: 0,
      bound: boundOf(dig(block, 'terminationGracePeriod')) ?? bound * MINUTE,
      actions: dig(block, 'actions') ?? (reboots ? REBOOT_FIRST : undefined),
      rank: reason === undefined ? 0 : 1,
    }));
  const entries = [
    ...overrides.flatMap(entry => {
      const type = String(dig(entry, 'conditionType'));
      if (dig(entry, 'reason') === undefined && isReplaced(type)) return [];
      const statuses = new Set(provided.flatMap(each => (each[0] === type ? [each[1]] : [])));
      return [...statuses].map(status => ({ entry, type, status }));
    }),
    ...own.map(entry => ({ entry, type: String(dig(entry, 'type')), status: String(dig(entry, 'status')) })),
  ].flatMap(({ entry, type, status }): RepairCondition[] => {
    const reason = dig(entry, 'reason');
    const base = {
      type,
      status,
      reason: compiled(reason),
      toleration: tolerationOf(dig(entry, 'toleration')) ?? Infinity,
      priority: Number(dig(entry, 'priority') ?? 0),
      rank: reason === undefined ? 0 : 2,
      confirm: status === 'Unknown' ? textOf(dig(entry, 'confirm')) : undefined,
    };
    const bound = boundOf(dig(entry, 'terminationGracePeriod')) ?? boundOf(dig(block, 'terminationGracePeriod'));
    const actions = dig(entry, 'actions') ?? dig(block, 'actions');
    // What it does not say is the provider's, which may say several things by the reason.
    const there = provided.filter(each => each[0] === type && each[1] === status);
    if (there.length === 0) return [{ ...base, bound: bound ?? 0, actions }];
    return there.map(each => ({
      ...base,
      bound: bound ?? each[4] * MINUTE,
      actions: actions ?? (each[5] ? REBOOT_FIRST : undefined),
    }));
  });
  return [...fromProvider, ...entries].filter(({ toleration, reason }) => reason !== undefined || toleration < YEAR);
}

function isStatedOf(node: KubernetesObject, { type, status, reason }: RepairCondition): boolean {
  const condition = conditionOf(node, type);
  return condition?.['status'] === status && (reason === undefined || reason.test(textOf(condition['reason']) ?? ''));
}

interface Found {
  readonly repairConditions: readonly RepairCondition[];
  readonly found: readonly RepairCondition[];
}

/** What was last asked of each node, which is asked again with every look at the others. */
const lastFound = new WeakMap<KubernetesObject, Found>();

/** Those that hold of the node. */
export function unhealthyConditionsOf(
  node: KubernetesObject,
  repairConditions: readonly RepairCondition[],
): readonly RepairCondition[] {
  const last = lastFound.get(node);
  if (last?.repairConditions === repairConditions) return last.found;
  const stated = repairConditions.filter(repairCondition => isStatedOf(node, repairCondition));
  const found = stated.filter(
    condition =>
      !isToleratedForEver(condition) &&
      !stated.some(other => other.type === condition.type && other.rank > condition.rank),
  );
  lastFound.set(node, { repairConditions, found });
  return found;
}
