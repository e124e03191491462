/** Others at work on a node, and people who want it left alone. While somebody else is at it, Curfew begins nothing there. Pure. */
import { quoteCut } from '../../shared/domain/cut-text.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { isOwnCondition } from '../../shared/domain/node-drain-conditions.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeCondition, type NodeView } from '../../shared/domain/node.ts';
import {
  addDuration,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  toEpochMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';

/** An object that may carry a person's veto against the repair of a node. */
export interface Vetoer {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The value of `curfew.dev/do-not-repair`; undefined: no veto. */
  readonly value: string | undefined;
}

export interface Veto {
  /** When it ends; undefined: when somebody takes it away. */
  readonly until: EpochMs | undefined;
  readonly message: string;
  /** The value says nothing that can be read; it holds nevertheless. */
  readonly invalid: boolean;
  readonly by: Vetoer;
}

/** Karpenter's own, on Nodes and NodeClaims; exactly `"true"`. */
const KARPENTER_VETO = 'karpenter.sh/do-not-repair';

/** The veto that holds longest, or undefined. */
export function vetoOf(
  node: NodeView,
  claim: NodeClaimView | undefined,
  pool: Vetoer | undefined,
  now: EpochMs,
): Veto | undefined {
  const carriers = [
    { kind: 'Node' as const, object: node },
    ...(claim === undefined ? [] : [{ kind: 'NodeClaim' as const, object: claim }]),
  ];
  const vetoes = carriers.flatMap(({ kind, object: { name, uid, annotations } }) => {
    const by: Vetoer = { kind, name, uid, value: annotations[DO_NOT_REPAIR_ANNOTATION] };
    const message = `${KARPENTER_VETO} on ${kind} ${name} holds until it is removed`;
    const karpenters: Veto = { until: undefined, message, invalid: false, by };
    return [readVeto(by, now) ?? [], annotations[KARPENTER_VETO] === 'true' ? karpenters : []].flat();
  });
  const pools = pool === undefined ? [] : (readVeto(pool, now) ?? []);
  return [...vetoes, pools].flat().toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/**
 * `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other value as `"true"` does (I6: its author wanted the
 * node left alone).
 */
function readVeto(by: Vetoer, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on} holds until it is removed`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = quoteCut(by.value, 64);
    const message = `${on} holds until it is removed: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}

/** Somebody else at work. */
export interface Other {
  /** Whose mark it is, e.g. `taint karpenter.sh/disrupted`. */
  readonly what: string;
  /** After it was first seen it counts as a repair in flight for so long; after that it holds its own node alone. */
  readonly countsFor: DurationMs;
}

const COUNTS_FOR = hours(1);
const REBOOT_COUNTS_FOR = minutes(40);
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';
const AUTOSCALER_HOLDS_FOR = minutes(15);
/** An instance that somebody has stopped. */
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

const taintOf = ({ taints }: Pick<NodeView, 'taints'>, key: string) => taints?.find(each => each.key === key);

const isTrue = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True' && !isOwnCondition(each)) === true;

/** By which mark Karpenter says that it reboots the node. */
export function isRebooting(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (isTrue(claim?.conditions, 'Rebooting')) return 'condition Rebooting of the NodeClaim';
  return taintOf(node, 'karpenter.sh/rebooting') && 'taint karpenter.sh/rebooting';
}

/** By which mark it says that it is going to disrupt the node. */
export function isMarkedForDisruption(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (taintOf(node, 'karpenter.sh/disrupted')) return 'taint karpenter.sh/disrupted';
  return isTrue(claim?.conditions, 'DisruptionReason') ? 'condition DisruptionReason of the NodeClaim' : undefined;
}

/** @param asked what stands for the node in other systems, by its name */
export function otherAtWork(
  node: NodeView,
  claim: NodeClaimView | undefined,
  asked: string | undefined,
  now: EpochMs,
): Other | undefined {
  const other = (what: string, countsFor: DurationMs = COUNTS_FOR): Other => ({ what, countsFor });
  const reboot = isRebooting(node, claim);
  if (reboot !== undefined) return other(reboot, REBOOT_COUNTS_FOR);
  // What terminates it has set that taint, and a repair may force a termination.
  if (claim?.deletionTime === undefined && node.deletionTime === undefined) {
    const marked = isMarkedForDisruption(node, claim);
    if (marked !== undefined) return other(marked);
  }
  const removal = taintOf(node, AUTOSCALER_TAINT);
  const since = removal && Number(removal.value) * 1000;
  const isRead = since !== undefined && Number.isSafeInteger(since);
  if (isRead && !isDue(now, addDuration(toEpochMs(since), AUTOSCALER_HOLDS_FOR)))
    return other(`taint ${AUTOSCALER_TAINT}`);
  if (isTrue(node.conditions, 'MaintenanceInProgress')) return other('condition MaintenanceInProgress');
  return asked === undefined ? undefined : other(asked);
}

/** Its owner has stopped it: it is neither ill nor well. */
export const isStopped = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === SHUTDOWN_TAINT) === true;
