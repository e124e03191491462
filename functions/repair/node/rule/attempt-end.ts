/**
 * An attempt that was accepted: its state in words, and its end when the node has recovered, the attempt is called off,
 * or repair is no longer wanted. Pure.
 */
import { answerOf, hasTime, withoutAct, withoutAttempt, withoutCalledOffAttempt } from './attempt.ts';
import { type Finding, findingOf } from './finding.ts';
import { judgeByLadder } from './ladder-verdict.ts';
import type { NodeFacts } from './node-facts.ts';
import { isStillUnhealthy } from './onset.ts';
import type { Attempt, AttemptOf } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { type EpochMs, toTimestamp } from '../../../../shared/domain/time.ts';

/**
 * Whether the EC2 instance was asked to reboot and has not done so yet: the conditions of its Node may still be the old
 * ones.
 */
export const awaitsReboot = (attempt: Attempt, node: Pick<NodeView, 'bootID'>, now: EpochMs): boolean =>
  attempt.action === 'Reboot' &&
  attempt.bootID !== undefined &&
  node.bootID === attempt.bootID &&
  hasTime(attempt, now);

/** Describes an act under way in a message, with the times of its beginning and end. A launch has words of its own. */
export function describe(attempt: Attempt): string {
  const { action, claim, until, time } = attempt;
  const answer = answerOf(attempt);
  if (answer !== undefined) return `${action} is over: ${answer.message}`;
  const since = `since ${toTimestamp(time)}`;
  if (action !== 'Terminate') return `${action} is under way ${since}, until ${toTimestamp(until)}`;
  return claim === undefined
    ? `the instance was terminated in its Auto Scaling group, ${since}`
    : `NodeClaim ${claim.name} is being terminated, ${since}`;
}

/** Explains why a termination does not end, by the finalizers of its NodeClaim and of its Node. */
export function stuckReason(ofClaim: readonly string[], ofNode: readonly string[]): string {
  const finalizerOnKind = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;
  const finalizers = [...ofClaim.map(finalizerOnKind('NodeClaim')), ...ofNode.map(finalizerOnKind('Node'))];
  return finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
}

/** Whether repair is on and its mode is `Enforce`, so that an attempt may go on. */
export const isEnforced = ({ context, isOn }: NodeFacts): boolean => isOn && context.repair.mode === 'Enforce';

/**
 * Whether an attempt may go on. It may also while the repair block cannot be read: a mistake stops nothing that was
 * begun.
 */
export function isWanted(facts: NodeFacts): boolean {
  const { gateOpen, settings } = facts.context.repair;
  return isEnforced(facts) || (gateOpen && settings !== undefined && 'invalid' in settings);
}

/** Judges a node that is well again, which ends the attempt. @param seen what else the message says of the node */
export function judgeRecovered(
  facts: NodeFacts,
  attempt: Attempt,
  seen = '',
  when = `after ${attempt.action}`,
): Finding {
  const { record, node } = facts;
  // No entry names the condition any more: nothing has helped.
  if (isStillUnhealthy(node, { ...record, attempt }))
    return judgeWithoutAttempt({ ...facts, wasUnhealthy: true }, withoutAttempt(record, attempt));
  const message = `the node is well again ${when}${seen}`;
  return findingOf(withoutAttempt(record, attempt), { kind: 'recovered', node, attempt, message });
}

/**
 * Judges a node that is well again while its custom resource still has time, or before the action that its drain was for. The
 * request is withdrawn, and its action counts as not taken. If the node is unhealthy again in the same incident, the action gets
 * its time: a drained node has pods again.
 */
export function judgeRecoveredEarly(facts: NodeFacts, attempt: AttemptOf<'Drain' | 'CustomResource'>): Finding {
  if (attempt.action !== 'Drain' && !hasTime(attempt, facts.context.now)) return judgeRecovered(facts, attempt);
  const { incident, ...others } = facts.record;
  const record = { ...others, ...(incident && { incident: { ...incident, interrupted: attempt.key } }) };
  return judgeRecovered({ ...facts, record }, attempt, '', `during ${attempt.action}`);
}

/** Calls off an attempt that the settings no longer want. It uses up none of its allowance. */
export function stopAndJudge(facts: NodeFacts, attempt: Attempt): Finding {
  return callOffAndJudge({ ...facts, record: withoutAct(facts.record, attempt) }, attempt);
}

/** Calls the attempt off: it counts as not taken, and begins again when it may. */
export function callOffAndJudge(facts: NodeFacts, attempt: Attempt): Finding {
  return judgeWithoutAttempt(facts, withoutCalledOffAttempt({ ...facts.record, attempt }, attempt));
}

/** Ends the attempt: the node is judged without it, and what it has set is taken back. */
export function judgeWithoutAttempt(facts: NodeFacts, record: NodeRecord): Finding {
  return { ...judgeByLadder({ ...facts, record }), attemptState: 'over' };
}
