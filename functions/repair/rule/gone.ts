/** What becomes of a repair whose Node is gone. Pure. */
import { addDuration, earliest, isDue, toTimestamp } from '../../../shared/domain/time.ts';
import { accepted, settledTime, withoutAttempt } from './attempt.ts';
import type { LookContext } from './judged-node.ts';
import type { NodeRecord } from './record.ts';
import { FOLLOW_CHECK } from './times.ts';
import type { NodeLook, Verdict } from './verdict.ts';

/** Its Node is gone. */
export function lookAtGone(
  { uid, held }: { readonly uid: string; readonly held: NodeRecord },
  { now, claims }: LookContext,
): NodeLook {
  const { attempt } = held;
  const node = { name: held.name, uid };
  const base = { node, view: undefined, isInFlight: false, isFollowed: false, takesBack: held.ours !== undefined };
  const gone: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  if (attempt === undefined) return { ...base, record: undefined, verdict: gone };
  const settled = settledTime(attempt);
  if (attempt.phase === 'intended' && !isDue(now, settled))
    return { ...base, record: held, time: settled, isFollowed: true };
  const isLost = attempt.phase === 'intended' && { lost: attempt };
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = attempt.phase === 'intended' ? withoutAttempt(held, attempt) : held;
    return { ...base, record: undefined, verdict: gone, takesBack: over.ours !== undefined, ...isLost };
  }
  const record = attempt.phase === 'intended' ? accepted(held, attempt, []) : held;
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    return { ...base, record, time, isFollowed: true, ...isLost };
  }
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers.map(on('NodeClaim')))}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return { ...base, record, verdict, time: addDuration(now, FOLLOW_CHECK), isFollowed: true, ...isLost };
}

export const on = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;

export const stuckBy = (finalizers: readonly string[]): string =>
  finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
