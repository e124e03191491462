/** `curfew.dev/do-not-repair`: a person's veto against the repair of a node, on the Node, its NodeClaim or its NodePool. Pure. */
import { addDuration, isDue, minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';

/** An object that may carry the veto. */
export interface Vetoer {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The annotation's value; undefined: no veto. */
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

/**
 * The veto that holds longest, or undefined. `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other
 * value as `"true"` does (I6: its author wanted the node left alone).
 */
export function findVeto(vetoers: readonly Vetoer[], now: EpochMs): Veto | undefined {
  const vetoes = vetoers.flatMap(vetoer => readVeto(vetoer, now) ?? []);
  return vetoes.toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

function readVeto(by: Vetoer, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on} holds until it is removed`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = JSON.stringify(by.value.slice(0, 64));
    const message = `${on} holds until it is removed: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}

/** Without an end a veto is looked at again this often; a change of the annotation is an event of its own. */
export const VETO_CHECK = minutes(5);
export const vetoCheckTime = ({ until }: Veto, now: EpochMs): EpochMs => until ?? addDuration(now, VETO_CHECK);
