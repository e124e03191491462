/** Judges a node whose Node object is gone: its incident is closed, or its termination is still followed. Pure. */
import { FOLLOW_CHECK, type Verdict } from './verdict.ts';
import type { JudgeContext } from './pool-facts.ts';
import type { NodeRecord } from '../node-record.ts';
import { accepted, judgeTime, withoutAttempt } from './attempt.ts';
import { stuckBy } from './accepted-act.ts';
import { type GoneNode, judgement, toFinding } from './finding.ts';
import { addDuration, earliest, isDue, toTimestamp } from '../../../shared/domain/time.ts';

/** Judges a node whose Node object is gone; its NodeClaim may still be there. */
export function judgeGone(
  uid: string,
  recordBefore: NodeRecord,
  { now, claims }: Pick<JudgeContext, 'now' | 'claims'>,
): GoneNode {
  const { attempt } = recordBefore;
  const node = { name: recordBefore.name, uid };
  const gone = (...judged: Parameters<typeof judgement>): GoneNode => ({
    ...toFinding(judgement(...judged)),
    kind: 'gone',
    node,
  });
  const closed: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  const isUseless = recordBefore.leftovers !== undefined;
  if (attempt === undefined) return gone(undefined, closed, undefined, { isUseless });
  const isIntended = attempt.phase === 'intended';
  const runOver = judgeTime(attempt);
  if (isIntended && !isDue(now, runOver))
    return gone(recordBefore, undefined, runOver, { course: 'unawaited', isUseless });
  const news: GoneNode['news'] = isIntended ? [{ kind: 'lost', attempt }] : [];
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = isIntended ? withoutAttempt(recordBefore, attempt) : recordBefore;
    return gone(undefined, closed, undefined, { isUseless: over.leftovers !== undefined, news });
  }
  const record = isIntended ? accepted(recordBefore, attempt, []) : recordBefore;
  const check = addDuration(now, FOLLOW_CHECK);
  if (!isDue(now, attempt.until))
    return gone(record, undefined, earliest(attempt.until, check), { course: 'unawaited', isUseless, news });
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers, [])}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return gone(record, verdict, check, { isUseless, news });
}
