/** The rank of due nodes: which one is repaired first. Pure. */
import type { DueNode, Rank } from './verdict.ts';
import type { Candidate } from './finding.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { type EpochMs, minutes } from '../../../shared/domain/time.ts';

/** A due node gains one in its score for each such time. */
const AGES_BY = minutes(30);

/**
 * Orders due nodes by their score: the dense rank of priority among those that are due, and one more for each half hour
 * that a node has been due, whatever held it. Nodes with equal scores are ordered by health, the less healthy first,
 * then by name.
 */
export function ranked(candidates: readonly Candidate[], now: EpochMs): readonly Candidate[] {
  const score = scores(candidates, now);
  return candidates.toSorted(
    (a, b) =>
      score(b.due) - score(a.due) ||
      b.due.severity - a.due.severity ||
      (a.finding.node.name < b.finding.node.name ? -1 : 1),
  );
}

export function scores(candidates: readonly Candidate[], now: EpochMs): (due: DueNode) => number {
  const priorities = [...new Set(candidates.map(({ due }) => due.entryPolicy.priority))].toSorted((a, b) => a - b);
  return ({ entryPolicy, dueSince }) => priorities.indexOf(entryPolicy.priority) + (now - dueSince) / AGES_BY;
}

/** The rank in the details of an audit line. */
export const rankDetails = ({ order, of, score }: Rank): JsonObject => ({ place: order, of, score });
