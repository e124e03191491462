/**
 * The finding of a pass about a node, and what follows from it. `withState` alone says how the node counts and whether
 * something is taken back, `inFlightOf` which nodes of a pool count as in flight. Pure.
 */
import { outlastsRepair } from './incident.ts';
import {
  type DueVerdict,
  type NodeName,
  type ReportedVerdict,
  type Verdict,
  VERDICT_TRAITS,
  type VerdictTrait,
} from './verdict.ts';
import type { Attempt } from '../attempt-record.ts';
import type { NodeRecord } from '../node-record.ts';
import type { PoolRecord } from '../pool-record.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, isDue } from '../../../shared/domain/time.ts';

/** Something that happened, and that no run has reported. */
export type News =
  /** An attempt whose run ended without a report. It took effect, or we cannot prove that it did not. */
  | { readonly kind: 'carriedOut'; readonly attempt: Attempt }
  /** An attempt whose run ended without a report, and whose Node is gone: nothing else will report it. */
  | { readonly kind: 'lost'; readonly attempt: Attempt }
  /** An attempt whose replacement did not become ready. */
  | { readonly kind: 'failedLaunch'; readonly attempt: Attempt; readonly why: string };

/** State of the attempt in the record of a node. */
export type AttemptCourse =
  /** There was no attempt, or the verdict alone says how it stands. */
  | 'none'
  | 'hasTime'
  /** The time of the attempt is over: the next action follows, if there is one. */
  | 'timeIsOver'
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
  readonly time: EpochMs | undefined;
  readonly course: AttemptCourse;
  /** An object or a mark that the repair has made is of no use any more. */
  readonly hasUselessLeftovers: boolean;
  /** Another controller is at work on the node, and counts against the limits. */
  readonly isUnderOtherWork: boolean;
  /** News, in the order in which they are reported. */
  readonly news: readonly News[];
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
  readonly node: NodeName;
}

export type NodeFinding = PresentNode | GoneNode;

/** A node that may be repaired now. */
export type DueFinding = PresentNode & { readonly verdict: DueVerdict };

export const isDueFinding = (finding: NodeFinding): finding is DueFinding =>
  finding.kind === 'present' && finding.verdict?.kind === 'due';

/** The verdict of a node that is due for an action; undefined: it is not. */
export const dueOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): DueVerdict | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

export const hasTrait = (verdict: NodeFinding['verdict'], trait: VerdictTrait): boolean =>
  verdict !== undefined && VERDICT_TRAITS[verdict.kind].includes(trait);

/** Creates a finding. The values that are not in `more` have their defaults. */
export const findingOf = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  time?: Finding['time'],
  more?: Partial<Pick<Finding, 'course' | 'hasUselessLeftovers' | 'news'>>,
): Finding => ({
  record,
  verdict,
  time,
  course: 'none',
  hasUselessLeftovers: false,
  isUnderOtherWork: false,
  news: [],
  ...more,
});

/** The finding of a node whose attempt has time. */
export const findingUnderWay = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  time: Finding['time'],
  hasUselessLeftovers = false,
): Finding => findingOf(record, verdict, time, { course: 'hasTime', hasUselessLeftovers });

/** Adds to a finding what follows from it. Nothing else sets them while nodes are judged. */
export function withState<Found extends Finding>(finding: Found): Found & FindingWithState {
  return { ...finding, state: stateOf(finding), needsCleanUp: needsCleanUp(finding) };
}

function stateOf({ record, verdict, course, isUnderOtherWork }: Finding): FindingWithState['state'] {
  if (isUnderOtherWork || hasTrait(verdict, 'inFlight')) return 'inFlight';
  if (hasTrait(verdict, 'followed')) return 'followed';
  switch (course) {
    case 'hasTime':
      return 'inFlight';
    case 'timeIsOver':
      return hasTrait(verdict, 'awaitsNoRun') ? 'followed' : 'inFlight';
    case 'unawaited':
    case 'failed':
      return 'followed';
    case 'none':
    case 'over':
      return outlastsRepair(record) ? 'followed' : 'idle';
  }
}

function needsCleanUp({ record, verdict, course, hasUselessLeftovers }: Finding): boolean {
  if (hasUselessLeftovers || hasTrait(verdict, 'needsCleanUp')) return true;
  if (course === 'timeIsOver') return record?.leftovers?.maintenance === true;
  return course === 'over' || course === 'failed';
}

/** The verdict of a node as it is reported; undefined: there is none, or the pool has yet to decide. */
export const verdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): ReportedVerdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;

/** UIDs of nodes with an attempt under way, and of nodes on which a run that may still be at work set out to act. */
export function inFlightOf(findings: readonly NodeFinding[], state: PoolRecord, now: EpochMs): ReadonlySet<string> {
  const isBegun = (finding: NodeFinding): boolean => {
    const since = begunTime(finding, state);
    if (since === undefined || hasTrait(finding.verdict, 'awaitsNoRun')) return false;
    return !isDue(now, addDuration(since, RUN_ENDS_WITHIN));
  };
  const counted = findings.filter(finding => finding.state === 'inFlight' || isBegun(finding));
  return new Set(counted.map(({ node }) => node.uid));
}

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
