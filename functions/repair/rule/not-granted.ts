/** The finding of a due node that is not repaired in this pass: the pool blocks it, or the mode is Observe. Pure. */
import { calledOff, createAttempt } from './attempt.ts';
import { isBeforeReboot } from './ladder.ts';
import { type Blocker, FOLLOW_CHECK, type Rank, type Verdict } from './verdict.ts';
import { type Candidate, type PresentNode, toFinding } from './finding.ts';
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';

export function blockedNode({ finding, due }: Candidate, blocker: Blocker, rank: Rank): PresentNode {
  const { record } = finding;
  const { dueCondition } = due;
  const { message, until: time } = blocker;
  const verdict: Verdict = { kind: 'notAllowed', node: finding.node, blocker, dueCondition, message, rank };
  // A node that was drained for its reboot is uncordoned meanwhile.
  if (record?.attempt !== undefined && isBeforeReboot(record.attempt)) {
    const opened = calledOff(record, record.attempt);
    return toFinding({ ...finding, record: opened, verdict, time, course: 'failed' });
  }
  // The annotation of an earlier attempt is taken back while the node is held.
  const isUseless = finding.isUseless || record?.leftovers?.annotation !== undefined;
  return toFinding({ ...finding, verdict, time, isUseless });
}

/** Says what would be done if the mode were Enforce. */
export function observedNode(candidate: Candidate, now: EpochMs): PresentNode {
  const { finding, due, laterActions } = candidate;
  const attempt = createAttempt(candidate, now);
  const verdict: Verdict = { kind: 'wouldRepair', node: finding.node, attempt, laterActions, message: due.message };
  return toFinding({ ...finding, verdict, time: addDuration(now, FOLLOW_CHECK) });
}
