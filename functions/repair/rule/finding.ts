/** What a pass finds of a node: its record, its verdict, and what follows from that verdict. Pure. */
import { type DueAction, type NodeName, type Verdict, VERDICT_TRAITS, type VerdictTrait } from './verdict.ts';
import type { Attempt } from '../attempt-record.ts';
import type { NodeRecord } from '../node-record.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';

/** Something that happened, and that no run has reported. */
export type News =
  /** An attempt of a run that ended without saying so: it took place, or nothing can show that it did not. */
  | { readonly kind: 'carriedOut'; readonly attempt: Attempt }
  /** The same, and the Node is gone: nothing else will report it. */
  | { readonly kind: 'lost'; readonly attempt: Attempt }
  /** Its replacement did not become ready. */
  | { readonly kind: 'failedLaunch'; readonly attempt: Attempt; readonly why: string };

/**
 * What a pass finds of a node, whether or not the Node is there. `verdict` is what is said, `state` is who is counted,
 * `needsCleanUp` whether something is undone: both follow from the verdict (`toFinding`), and an attempt or a mark may add to that.
 */
export interface Finding {
  /** The record to write; undefined: the record is closed. */
  readonly record: NodeRecord | undefined;
  /** The verdict, or the action that it is due for while the pool has yet to decide; undefined: nothing to report. */
  readonly verdict: Verdict | DueAction | undefined;
  /** When to look again; undefined: when something changes. */
  readonly time: EpochMs | undefined;
  /**
   * `inFlight`: a repair, ours or somebody else's, counts against the limits until it ends or is stuck; `followed`:
   * something is still to be followed, though nobody waits for it.
   */
  readonly state: 'idle' | 'followed' | 'inFlight';
  /** What the repair made is to be taken back. */
  readonly needsCleanUp: boolean;
  /** In the order in which it is reported. */
  readonly news: readonly News[];
}

export interface PresentNode extends Finding {
  readonly kind: 'present';
  readonly node: NodeView;
  /** Since when another controller is at work on it, as the pass before has recorded. */
  readonly otherWorkTime?: EpochMs | undefined;
}

/** A node whose Node object is gone: only its record is known. */
export interface GoneNode extends Finding {
  readonly kind: 'gone';
  readonly node: NodeName;
}

export type NodeFinding = PresentNode | GoneNode;

/** A node that may be repaired now. */
export interface Candidate extends DueAction {
  readonly finding: PresentNode;
}

/** The action that the node is due for, before the pool has decided. */
export const dueOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): DueAction | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

/** Whether the verdict, or the due action, has the trait. */
export const hasTrait = (verdict: NodeFinding['verdict'], trait: VerdictTrait): boolean =>
  verdict !== undefined && VERDICT_TRAITS[verdict.kind].includes(trait);

/** The finding that follows from a verdict. @param more what an attempt or a mark on the Node adds */
export function toFinding(
  record: Finding['record'],
  verdict: Finding['verdict'],
  time?: Finding['time'],
  more?: Partial<Pick<Finding, 'state' | 'needsCleanUp' | 'news'>>,
): Finding {
  const state = (['inFlight', 'followed'] as const).find(each => hasTrait(verdict, each)) ?? 'idle';
  const needsCleanUp = hasTrait(verdict, 'needsCleanUp');
  return { record, verdict, time, state, needsCleanUp, news: [], ...more };
}

/** A finding of a node whose repair is under way. */
export const inFlight = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  time: Finding['time'],
  needsCleanUp = false,
): Finding => toFinding(record, verdict, time, { state: 'inFlight', needsCleanUp });

/** The verdict of a node; undefined: there is none, or the pool has yet to decide. */
export const verdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): Verdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;
