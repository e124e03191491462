/** Vetoes of people and of Karpenter against the repair of a node. Pure. */
import { quoteCut } from '../../../../shared/domain/cut-text.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView } from '../../../../shared/domain/node.ts';
import { type EpochMs, isDue, parseTimestamp, toTimestamp } from '../../../../shared/domain/time.ts';

/** An object that may carry a person's veto against the repair of a node. */
export interface VetoSource {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The value of `curfew.dev/do-not-repair`; undefined: no veto. */
  readonly value: string | undefined;
}

export interface Veto {
  /** End of the veto; undefined: it holds until somebody removes it. */
  readonly until: EpochMs | undefined;
  readonly message: string;
  /** The value cannot be read; it counts nevertheless. */
  readonly invalid: boolean;
  readonly by: VetoSource;
}

/** Annotation of Karpenter's own, on Nodes and NodeClaims; the value is exactly `"true"`. */
const KARPENTER_VETO = 'karpenter.sh/do-not-repair';

const UNTIL_REMOVED = ' holds until it is removed';

/** The veto that holds longest, or undefined. */
export function vetoOf(
  node: NodeView,
  claim: NodeClaimView | undefined,
  pool: VetoSource | undefined,
  now: EpochMs,
): Veto | undefined {
  const sources = [
    { kind: 'Node' as const, object: node },
    ...(claim === undefined ? [] : [{ kind: 'NodeClaim' as const, object: claim }]),
  ];
  const vetoes = sources.flatMap(({ kind, object: { name, uid, annotations } }) => {
    const by: VetoSource = { kind, name, uid, value: annotations[DO_NOT_REPAIR_ANNOTATION] };
    const message = `${KARPENTER_VETO} on ${kind} ${name}${UNTIL_REMOVED}`;
    const karpenterVeto: Veto = { until: undefined, message, invalid: false, by };
    return [readVeto(by, now) ?? [], annotations[KARPENTER_VETO] === 'true' ? karpenterVeto : []].flat();
  });
  const pools = pool === undefined ? [] : (readVeto(pool, now) ?? []);
  return [...vetoes, pools].flat().toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/**
 * Reads a veto. `"true"` holds until it is removed, an RFC 3339 instant until then, and any other value as `"true"`
 * does (I6: its author wanted the node left alone).
 */
export function readVeto(by: VetoSource, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on}${UNTIL_REMOVED}`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = quoteCut(by.value, 64);
    const message = `${on}${UNTIL_REMOVED}: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}
