/** The finding of a due node that gets no repair in this pass: its pool blocks it, or the mode is `Observe`. Pure. */
import { createAttempt, withoutCalledOffAttempt } from '../node/rule/attempt.ts';
import { type DueFinding, type PresentNode, withState } from '../node/rule/finding.ts';
import { isBeforeReboot } from '../node/rule/ladder.ts';
import { type Blocker, FOLLOW_CHECK, type Rank, type Verdict } from '../node/rule/verdict.ts';
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';

/** The finding of a due node that its pool blocks. */
export function blockedNode(finding: DueFinding, blocker: Blocker, rank: Rank): PresentNode {
  const { record } = finding;
  const { dueCondition } = finding.verdict;
  const { message, until: nextLookTime } = blocker;
  const verdict: Verdict = { kind: 'blockedByPool', node: finding.node, blocker, dueCondition, message, rank };
  // A node that was drained for its reboot is uncordoned meanwhile.
  if (record?.attempt !== undefined && isBeforeReboot(record.attempt)) {
    const opened = withoutCalledOffAttempt(record, record.attempt);
    return withState({ ...finding, record: opened, verdict, nextLookTime, attemptState: 'failed' });
  }
  // The annotation of an earlier attempt is taken back while the node is blocked.
  const hasUselessLeftovers = finding.hasUselessLeftovers || record?.leftovers?.annotation !== undefined;
  return withState({ ...finding, verdict, nextLookTime, hasUselessLeftovers });
}

/** Says what would be done if the mode were Enforce. */
export function observedNode(finding: DueFinding, now: EpochMs): PresentNode {
  const { laterActions, message } = finding.verdict;
  const { attempt } = createAttempt(finding, now);
  const verdict: Verdict = { kind: 'wouldRepair', node: finding.node, attempt, laterActions, message };
  return withState({ ...finding, verdict, nextLookTime: addDuration(now, FOLLOW_CHECK) });
}
