/**
 * Finds the leftovers to take back: those of repairs that are over, and of attempts that were not carried out (I7).
 * Pure.
 */
import type { NodeRecord, RepairLeftovers } from '../record.ts';
import { isRebootUnderWay, replacementOf, withoutAttempt } from '../rule/attempt.ts';
import { isRecordNeeded } from '../rule/incident.ts';
import { unmarkTime } from '../rule/replacement.ts';
import { type NodeFinding, withState } from '../rule/finding.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import { type EpochMs, isDue } from '../../../../shared/domain/time.ts';

/**
 * The record whose leftovers are to be taken back; undefined: nothing is.
 * @param stored the record in the table. If the node is gone, what its last attempt has set is taken back, too
 */
export function recordWithLeftovers(
  { record, needsCleanUp }: Pick<NodeFinding, 'record' | 'needsCleanUp'>,
  stored: NodeRecord | undefined,
): NodeRecord | undefined {
  if (!needsCleanUp) return undefined;
  return record ?? (stored?.attempt === undefined ? stored : withoutAttempt(stored, stored.attempt));
}

export interface RecordToCleanUp {
  readonly record: NodeRecord;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** The Node is gone. */
  readonly isGone?: boolean;
}

/** The leftovers that nothing needs any more; undefined: there are none. */
export function leftoversToTakeBack(
  { record: { leftovers = {}, attempt, incident }, claims, isGone = false }: RecordToCleanUp,
  now: EpochMs,
): RepairLeftovers | undefined {
  const { replacement } = leftovers;
  const unmarks = replacement && unmarkTime(replacement);
  const isUnused = unmarks === undefined && replacementOf(attempt) === undefined;
  const isDone = isGone || isUnused || (unmarks !== undefined && isDue(now, unmarks));
  const isOver = attempt === undefined;
  // Once a node under termination is healthy, delete its remediations; keep the drain until its NodeClaim is gone.
  const isHelped = attempt?.action === 'Terminate' && incident?.healthySince !== undefined;
  const isClaimGone = isHelped && attempt.claim !== undefined && !claims.has(attempt.claim.uid);
  const isUnneeded: Readonly<Record<string, boolean>> = {
    annotation: true,
    requested: isOver,
    replacement: isDone,
    drain: isOver || isClaimGone,
    maintenance: !isRebootUnderWay(attempt, now),
    resources: isOver || isHelped,
    mayHaveMade: isOver || isHelped,
  } satisfies Record<keyof RepairLeftovers, boolean>;
  const unneeded = Object.entries(leftovers).filter(([name, value]) => value !== undefined && isUnneeded[name]);
  return unneeded.length === 0 ? undefined : Object.fromEntries(unneeded);
}

/** The record without the leftovers that were taken back. */
export function withoutTakenBack({ leftovers = {}, ...otherFields }: NodeRecord, taken: RepairLeftovers): NodeRecord {
  const kept = Object.entries(leftovers).filter(([key]) => !(key in taken));
  return { ...otherFields, ...(kept.length > 0 && { leftovers: Object.fromEntries(kept) }) };
}

/**
 * The finding of a node after a try to take its leftovers back.
 * @param isIncomplete something could not be taken back, and is tried again
 */
export function afterTakeBack(finding: NodeFinding, record: NodeRecord, isIncomplete: boolean): NodeFinding {
  const kept = finding.record !== undefined || isRecordNeeded(record, { kind: 'gone' }) ? record : undefined;
  const after = { ...finding, record: kept };
  if (finding.state === 'inFlight') return withState(after);
  const isOpen = finding.state === 'followed' && kept?.attempt !== undefined;
  if (!isIncomplete && !isOpen) return withState({ ...after, attemptState: 'over' });
  const isFollowedByAttempt = after.attemptState !== 'none' && after.attemptState !== 'over';
  return withState(isFollowedByAttempt ? after : { ...after, attemptState: 'unawaited' });
}
