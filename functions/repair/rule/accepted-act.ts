/** An act that was accepted: its answer, whether it still has time, and its state in words. Pure. */
import type { ActionAnswer, Attempt } from '../attempt-record.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { type EpochMs, isDue, toTimestamp } from '../../../shared/domain/time.ts';

/**
 * The answer to a drain or to a custom resource that the attempt has requested; undefined: there is none yet, or the
 * attempt is of another action.
 */
export const answerOf = (attempt: Attempt): ActionAnswer | undefined =>
  attempt.action === 'Drain' || attempt.action === 'CustomResource' ? attempt.answer : undefined;

/** Whether an accepted act still has time. */
export const hasTime = (attempt: Attempt, now: EpochMs): boolean =>
  answerOf(attempt) === undefined && !isDue(now, attempt.until);

/**
 * Whether the EC2 instance was asked to reboot and has not done so yet: the conditions of its Node may still be the old
 * ones.
 */
export const awaitsReboot = (attempt: Attempt, node: Pick<NodeView, 'bootID'>, now: EpochMs): boolean =>
  attempt.action === 'Reboot' &&
  attempt.bootID !== undefined &&
  node.bootID === attempt.bootID &&
  hasTime(attempt, now);

/** Describes an act under way in a message, with the times of its beginning and end. */
export function describe(attempt: Attempt): string {
  const { action, claim, until, time } = attempt;
  const answer = answerOf(attempt);
  if (answer !== undefined) return `${action} is over: ${answer.message}`;
  const since = `since ${toTimestamp(time)}`;
  if (action === 'Replace')
    return `NodeClaim ${attempt.replacement.name} is being launched ${since}, until ${toTimestamp(until)}`;
  if (action !== 'Terminate') return `${action} is under way ${since}, until ${toTimestamp(until)}`;
  return claim === undefined
    ? `the instance was terminated in its Auto Scaling group, ${since}`
    : `NodeClaim ${claim.name} is being terminated, ${since}`;
}

/** Explains why a termination does not end, by the finalizers of its NodeClaim and of its Node. */
export function stuckBy(ofClaim: readonly string[], ofNode: readonly string[]): string {
  const finalizerOnKind = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;
  const finalizers = [...ofClaim.map(finalizerOnKind('NodeClaim')), ...ofNode.map(finalizerOnKind('Node'))];
  return finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
}
