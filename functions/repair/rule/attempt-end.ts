/** The end of an attempt: the node has recovered, the attempt is called off, or repair is no longer wanted. Pure. */
import { hasTime } from './accepted-act.ts';
import type { Attempt, AttemptOf } from '../attempt-record.ts';
import type { NodeFacts } from './pool-facts.ts';
import type { NodeRecord } from '../node-record.ts';
import { calledOff, withoutAttempt } from './attempt.ts';
import { isStillUnhealthy } from './health.ts';
import { judgeByLadder } from './next-action.ts';
import { type Judgement, judgement } from './finding.ts';

/** Whether repair is on and its mode is `Enforce`, so that an attempt may go on. */
export const isEnforced = ({ context, isOn }: NodeFacts): boolean => isOn && context.rules.mode === 'Enforce';

/**
 * Whether an attempt may go on. It may also while the repair block cannot be read: a mistake stops nothing that was
 * begun.
 */
export function isWanted(facts: NodeFacts): boolean {
  const { gateOpen, settings } = facts.context.rules;
  return isEnforced(facts) || (gateOpen && settings !== undefined && 'invalid' in settings);
}

/** Judges a node that is well again, which ends the attempt. @param seen what else the message says of the node */
export function judgeRecovered(
  facts: NodeFacts,
  attempt: Attempt,
  seen = '',
  when = `after ${attempt.action}`,
): Judgement {
  const { record, node } = facts;
  // No entry names the condition any more: nothing has helped.
  if (isStillUnhealthy(node, { ...record, attempt }))
    return judgeWithoutAttempt({ ...facts, wasUnhealthy: true }, withoutAttempt(record, attempt));
  const message = `the node is well again ${when}, attempt ${attempt.number}${seen}`;
  return judgement(withoutAttempt(record, attempt), { kind: 'recovered', node, attempt, message });
}

/**
 * Judges a node that is well again while its drain or custom resource still has time. The request is withdrawn, and its
 * action counts as not taken. If the node is unhealthy again in the same incident, the action gets its time.
 */
export function judgeRecoveredEarly(facts: NodeFacts, attempt: AttemptOf<'Drain' | 'CustomResource'>): Judgement {
  if (!hasTime(attempt, facts.context.now)) return judgeRecovered(facts, attempt);
  const { incident, ...others } = facts.record;
  const record = { ...others, ...(incident && { incident: { ...incident, interrupted: attempt.key } }) };
  return judgeRecovered({ ...facts, record }, attempt, '', `during ${attempt.action}`);
}

/** Calls the attempt off: it counts as not taken, and begins again when it may. */
export function callOffAndJudge(facts: NodeFacts, attempt: Attempt): Judgement {
  return judgeWithoutAttempt(facts, calledOff({ ...facts.record, attempt }, attempt));
}

/** Ends the attempt: the node is judged without it, and what it has set is taken back. */
export function judgeWithoutAttempt(facts: NodeFacts, record: NodeRecord): Judgement {
  return { ...judgeByLadder({ ...facts, record }), course: 'over' };
}
