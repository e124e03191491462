/** Judges a node without an attempt under way: its verdict and, if it is due, the next action of its ladder. Pure. */
import type { Attempt } from '../attempt-record.ts';
import { keyOf } from './ladder.ts';
import { carriedReturns, nextAction, takenBefore } from './next-action.ts';
import { judgeNotDue } from './not-due.ts';
import { BLOCKED_CHECK, type DueNode, type EntryPolicy } from './verdict.ts';
import type { NodeFacts } from './pool-facts.ts';
import { type Judgement, judgement } from './finding.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { deadlineBy, endsBy, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  minutes,
  parseTimestamp,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** A node on which another controller is at work is looked at this often: no event tells that the work has ended. */
const OTHERS_CHECK = minutes(1);

/**
 * Judges a node at which nothing is under way, by its own state and by the ladder.
 * @param unfinished an attempt that another run did not carry out
 */
export function judgeByLadder(facts: NodeFacts, unfinished?: Attempt): Judgement {
  const { decision, node, record, isOn } = facts;
  const { now } = facts.context;
  switch (decision.kind) {
    case 'ignore':
    case 'refuse': {
      const notDue = judgeNotDue(facts, decision);
      // While repair is off, what an attempt has set is taken back at once.
      const hasMarks = !isOn && (record.leftovers?.annotation !== undefined || record.leftovers?.drain !== undefined);
      return judgement(notDue.record, notDue.verdict, notDue.time, { isUseless: notDue.isUseless || hasMarks });
    }
    case 'tolerate':
      return judgement(record, { ...decision, node }, decision.dueCondition.dueTime);
    case 'unclaimed':
    case 'blocked':
    case 'vetoed':
    case 'finishing': {
      const isOthers = decision.kind === 'blocked' && decision.reason === 'BeingDisrupted';
      const check = addDuration(now, isOthers ? OTHERS_CHECK : BLOCKED_CHECK);
      const ends = decision.kind === 'vetoed' ? decision.veto.until : undefined;
      return judgement(record, { ...decision, node }, earliest(ends, check));
    }
    case 'due':
      return judgeDue(facts, decision, unfinished);
  }
}

/** Judges a due node: which action of its ladder is next, or why none is. */
function judgeDue({ node, record, context }: NodeFacts, decision: DueNode, unfinished: Attempt | undefined): Judgement {
  const { now, launchPause } = context;
  const { dueCondition, ladder, claim } = decision;
  const { incident, acts, refusals } = record;
  const taken = incident?.taken ?? takenBefore(record, dueCondition.conditionType, ladder, now);
  const { skipped } = incident ?? {};
  const basis = context.basisOf(claim);
  const requested = ladder.findIndex(each => keyOf(each) === record.leftovers?.requested?.key);
  const openActions = ladder.slice(Math.max(0, requested));
  const launchesFrom = launchPause?.until;
  const next = nextAction({ ladder: openActions, taken, acts, refusals, basis, skipped, launchesFrom }, now);
  switch (next.kind) {
    case 'next': {
      const { action } = next;
      if (action.type === 'Terminate' && claim !== undefined && endsAnyway(claim, decision.entryPolicy, now)) {
        const message = `NodeClaim ${claim.name} is being deleted already, and a repair would not end it sooner`;
        const verdict = { kind: 'finishing', node, dueCondition, message } as const;
        return judgement(record, verdict, addDuration(now, BLOCKED_CHECK));
      }
      const laterActions = ladder.slice(ladder.indexOf(action) + 1).filter(each => !taken.includes(keyOf(each)));
      const same = unfinished?.key === keyOf(action) ? unfinished : undefined;
      const begun = { ...record, incident: { ...incident, type: dueCondition.conditionType, taken: [...taken] } };
      return judgement(begun, { kind: 'due', due: decision, action, laterActions, unfinished: same });
    }
    case 'refused': {
      const message = `${decision.message}; refused: ${next.message}; ${againAt(next.until)}`;
      return judgement(record, { kind: 'retry', node, message }, next.until);
    }
    case 'unavailable': {
      const message = `${decision.message}; no replacement can be launched: ${againAt(next.until)}`;
      const verdict = { kind: 'blocked', node, reason: 'ReplacementUnavailable', dueCondition, message } as const;
      return judgement(record, verdict, next.until);
    }
    case 'exhausted': {
      const carried = incident === undefined ? carriedReturns(record, taken, ladder, now) : undefined;
      const returnTime = earliest(next.until, carried);
      const returns = returnTime === undefined ? '' : `; an allowance returns at ${toTimestamp(returnTime)}`;
      const list = ladder.map(({ type, timeout }) => `${type} ${formatDuration(timeout)}`).join(', ');
      const over = `every action of repair.actions (${list}) was taken or has no attempt left, no further action is set${returns}`;
      const message = list === '' ? 'without a NodeClaim of a NodePool there is nothing to replace' : over;
      const time = earliest(returnTime, addDuration(now, BLOCKED_CHECK));
      return judgement(record, { kind: 'exhausted', node, message }, time);
    }
  }
}

export const againAt = (until: EpochMs): string => `it is tried again at ${toTimestamp(until)}`;

/**
 * Rewords the end of a message (`againAt`) if the time that it names is over at `now`. Later tries are not reported, so
 * the message keeps the time of an earlier one.
 */
export function asOf(message: string, now: EpochMs): string {
  return message.replace(/ it is tried again at (\S+)$/, (text, time: string) => {
    const next = parseTimestamp(time);
    return next !== undefined && isDue(now, next) ? ` it was to be tried again at ${time}` : text;
  });
}

/** Whether the NodeClaim is being deleted, and no deadline of a repair would bring its end forward. */
function endsAnyway(claim: NodeClaimView, { drainBound }: Pick<EntryPolicy, 'drainBound'>, now: EpochMs): boolean {
  if (claim.deletionTime === undefined) return false;
  const deadline = deadlineBy(claim, drainBound, now);
  return deadline === undefined || endsBy(claim, deadline);
}
