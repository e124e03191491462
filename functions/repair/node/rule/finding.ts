/**
 * The finding of a pass about a node, and what follows from it. `withState` alone says how the node counts, after acts too,
 * and whether something is taken back; `nodesInFlight` which nodes of a pool count as in flight. Pure.
 */
import { outlastsRepair } from './incident.ts';
import {
  type DueVerdict,
  type ObjectIdentity,
  type ReportedVerdict,
  type Verdict,
  VERDICT_TRAITS,
  type VerdictTrait,
} from './verdict.ts';
import type { Attempt } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import type { PoolRecord } from '../../pool-record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, isDue } from '../../../../shared/domain/time.ts';

/** An outcome that no run has reported. */
export type UnreportedOutcome =
  /** An attempt whose run ended without a report. It took effect, or we cannot prove that it did not. */
  | { readonly kind: 'carriedOut'; readonly attempt: Attempt }
  /** An attempt whose run ended without a report, and whose Node is gone: nothing else will report it. */
  | { readonly kind: 'lost'; readonly attempt: Attempt }
  /** An attempt whose replacement did not become ready. */
  | { readonly kind: 'failedLaunch'; readonly attempt: Attempt; readonly why: string };

/** State of the attempt in the record of a node. */
export type AttemptState =
  /** There was no attempt, or the verdict alone says how it stands. */
  | 'none'
  | 'hasTime'
  /** The action has ended: the attempt keeps its slot only for the next one, if that may begin at once. */
  | 'ended'
  /** The attempt goes on, and no longer counts against the limits. */
  | 'unawaited'
  /** The attempt is over. */
  | 'over'
  /** The attempt was not carried out, or came to nothing. */
  | 'failed';

/** State of one node, as a pass finds it. */
export interface Finding {
  /** The record to write; undefined: the record is closed. */
  readonly record: NodeRecord | undefined;
  /** undefined: nothing to report. */
  readonly verdict: Verdict | undefined;
  /** Time of the next look; undefined: none until something changes. */
  readonly nextLookTime: EpochMs | undefined;
  readonly attemptState: AttemptState;
  /** An object or a mark that the repair has made is of no use any more. */
  readonly hasUselessLeftovers: boolean;
  /** Another controller is at work on the node, and counts against the limits. */
  readonly isUnderOtherWork: boolean;
  /** Outcomes that no run has reported, in the order in which they are reported now. */
  readonly unreported: readonly UnreportedOutcome[];
}

/** A finding, and what follows from it (`withState`): how the node counts, and whether something is taken back. */
export interface FindingWithState extends Finding {
  /**
   * `inFlight`: a repair, ours or somebody else's, counts against the limits until it ends or is stuck; `followed`:
   * something is still to be followed, though nobody waits for it.
   */
  readonly state: 'idle' | 'followed' | 'inFlight';
  /** The objects and marks that the repair made are to be taken back. */
  readonly needsCleanUp: boolean;
}

export interface PresentNode extends FindingWithState {
  readonly kind: 'present';
  readonly node: NodeView;
  /** Time since which another controller is at work on it, as the previous pass recorded it. */
  readonly otherWorkTime?: EpochMs | undefined;
}

/** A node whose Node object is gone: only its record is known. */
export interface GoneNode extends FindingWithState {
  readonly kind: 'gone';
  readonly node: ObjectIdentity;
}

export type NodeFinding = PresentNode | GoneNode;

/** A node that may be repaired now. */
export type DueFinding = PresentNode & { readonly verdict: DueVerdict };

/** A due node whose record has the incident that it is in. */
export type RememberedFinding = DueFinding & { readonly record: NodeRecord };

export const isDueFinding = (finding: NodeFinding): finding is DueFinding =>
  finding.kind === 'present' && finding.verdict?.kind === 'due';

/** The verdict of a node that is due for an action; undefined: it is not. */
export const dueVerdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): DueVerdict | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

export const hasTrait = (verdict: NodeFinding['verdict'], trait: VerdictTrait): boolean =>
  verdict !== undefined && VERDICT_TRAITS[verdict.kind].includes(trait);

/** Creates a finding. The values that are not in `more` have their defaults. */
export const findingOf = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  nextLookTime?: Finding['nextLookTime'],
  more?: Partial<Pick<Finding, 'attemptState' | 'hasUselessLeftovers' | 'unreported'>>,
): Finding => ({
  record,
  verdict,
  nextLookTime,
  attemptState: 'none',
  hasUselessLeftovers: false,
  isUnderOtherWork: false,
  unreported: [],
  ...more,
});

/** Whether a replacement of the node did not become ready, as this pass has found. */
export const hasFailedLaunch = ({ unreported }: Pick<Finding, 'unreported'>): boolean =>
  unreported.some(({ kind }) => kind === 'failedLaunch');

/** The finding of a node whose attempt has time. */
export const findingUnderWay = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  nextLookTime: Finding['nextLookTime'],
  hasUselessLeftovers = false,
): Finding => findingOf(record, verdict, nextLookTime, { attemptState: 'hasTime', hasUselessLeftovers });

/** Adds to a finding what follows from it, and replaces what followed before. Nothing else sets `state` and `needsCleanUp`. */
export function withState<Found extends Finding>(finding: Found): Found & FindingWithState {
  return { ...finding, state: stateOf(finding), needsCleanUp: needsCleanUp(finding) };
}

function stateOf({ record, verdict, attemptState, isUnderOtherWork }: Finding): FindingWithState['state'] {
  if (isUnderOtherWork || hasTrait(verdict, 'inFlight')) return 'inFlight';
  if (hasTrait(verdict, 'followed')) return 'followed';
  switch (attemptState) {
    case 'hasTime':
      return 'inFlight';
    case 'ended':
    case 'unawaited':
    case 'failed':
      return 'followed';
    case 'none':
    case 'over':
      return outlastsRepair(record) ? 'followed' : 'idle';
  }
}

function needsCleanUp({ record, verdict, attemptState, hasUselessLeftovers }: Finding): boolean {
  if (hasUselessLeftovers || hasTrait(verdict, 'needsCleanUp')) return true;
  if (attemptState === 'ended') return record?.leftovers?.maintenance === true;
  return attemptState === 'over' || attemptState === 'failed';
}

/** The verdict of a node as it is reported; undefined: there is none, or the pool has yet to decide. */
export const verdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): ReportedVerdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;

/**
 * UIDs of nodes with an attempt under way, of nodes on which a run that may still be at work set out to act, and of
 * nodes that keep their slot for the action that follows now.
 */
export function nodesInFlight(
  findings: readonly NodeFinding[],
  poolRecord: PoolRecord,
  now: EpochMs,
): ReadonlySet<string> {
  const counted = findings.filter(
    finding =>
      finding.state === 'inFlight' ||
      beingActedUntil(finding, poolRecord, now) !== undefined ||
      keepsSlot(finding, poolRecord),
  );
  return new Set(counted.map(({ node }) => node.uid));
}

/** The time until which a run that set out to act on the node may still be at work; undefined: none is. */
export function beingActedUntil(
  finding: NodeFinding,
  poolRecord: Pick<PoolRecord, 'inFlight'>,
  now: EpochMs,
): EpochMs | undefined {
  const since = begunTime(finding, poolRecord);
  if (since === undefined || hasTrait(finding.verdict, 'awaitsNoRun')) return undefined;
  const runEnds = addDuration(since, RUN_ENDS_WITHIN);
  return isDue(now, runEnds) ? undefined : runEnds;
}

/** Whether the node keeps the slot that it has: it is due for its next action. One that gave its slot up asks for one again. */
const keepsSlot = (finding: NodeFinding, { inFlight }: Pick<PoolRecord, 'inFlight'>): boolean =>
  finding.attemptState === 'ended' && dueVerdictOf(finding) !== undefined && finding.node.uid in inFlight;

/**
 * The time at which a run of ours set out to act on the node; undefined: none did. A slot that another controller's
 * work takes does not count, and neither does one that is older than the record of that work.
 */
export function begunTime(finding: NodeFinding, { inFlight }: Pick<PoolRecord, 'inFlight'>): EpochMs | undefined {
  const since = inFlight[finding.node.uid];
  if (finding.kind === 'gone' || since === undefined) return undefined;
  const { otherWorkTime } = finding;
  return otherWorkTime !== undefined && since <= otherWorkTime ? undefined : since;
}
