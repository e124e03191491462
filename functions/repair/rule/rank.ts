/** The rank of due nodes among those of their pool: who is repaired first. Pure. */
import type { DueFinding } from '../node/rule/finding.ts';
import { keyOf } from '../node/rule/ladder.ts';
import { type EpochMs, minutes } from '../../../shared/domain/time.ts';

/** A due node gains one in its score for each such time. */
const AGES_BY = minutes(30);

/**
 * Orders due nodes by their score: the dense rank of priority among those that are due, and one more for each half hour
 * that a node has been due, whatever blocked it. Nodes with equal scores are ordered by health, the less healthy first,
 * then by name. After a failed launch, a node ranks behind nodes with fewer launches: without capacity for its
 * replacement it would keep the slots of the pool.
 */
export function sortByRank(dueFindings: readonly DueFinding[], now: EpochMs): readonly DueFinding[] {
  const score = scores(dueFindings, now);
  return dueFindings.toSorted(
    (a, b) =>
      failedLaunchesOf(a) - failedLaunchesOf(b) ||
      score(b) - score(a) ||
      b.verdict.severity - a.verdict.severity ||
      (a.node.name < b.node.name ? -1 : 1),
  );
}

/** The score of each due node: its priority, and its age. */
export function scores(dueFindings: readonly DueFinding[], now: EpochMs): (due: DueFinding) => number {
  const all = new Set(dueFindings.map(({ verdict }) => verdict.entryPolicy.priority));
  const priorities = [...all].toSorted((a, b) => a - b);
  return ({ verdict: { entryPolicy, dueSince } }) =>
    priorities.indexOf(entryPolicy.priority) + (now - dueSince) / AGES_BY;
}

/** The number of launches for the node, if the next one has failed in this incident already. */
function failedLaunchesOf(finding: DueFinding): number {
  const { record, verdict } = finding;
  const isSkipped = record?.incident?.skippedLaunches?.includes(keyOf(verdict.action)) === true;
  return isLaunch(finding) && isSkipped ? (record.launched ?? 0) : 0;
}

/** Whether a new NodeClaim is asked for. */
export const isLaunch = ({ verdict: { action, unfinished } }: DueFinding): boolean =>
  action.type === 'Replace' && unfinished === undefined;
