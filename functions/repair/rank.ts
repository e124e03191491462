/**
 * Who comes first: the dense rank of priority among those that are due, and one more for each half hour that a node has been due, whatever
 * held it. So one of low priority waits no longer than half an hour a rank. Pure.
 */
import { minutes, type EpochMs } from '../../shared/domain/time.ts';
import type { DueNode } from './node-verdict.ts';
import type { Candidate } from './verdict.ts';

const AGES_BY = minutes(30);

/** Highest score first; of equal ones the less healthy node, then by name. */
export function ranked(candidates: readonly Candidate[], now: EpochMs): readonly Candidate[] {
  const score = scores(candidates, now);
  return candidates.toSorted(
    (a, b) =>
      score(b.due) - score(a.due) || b.due.severity - a.due.severity || (a.look.node.name < b.look.node.name ? -1 : 1),
  );
}

function scores(candidates: readonly Candidate[], now: EpochMs): (due: DueNode) => number {
  const priorities = [...new Set(candidates.map(({ due }) => due.terms.priority))].toSorted((a, b) => a - b);
  return ({ terms, dueSince }) => priorities.indexOf(terms.priority) + (now - dueSince) / AGES_BY;
}
