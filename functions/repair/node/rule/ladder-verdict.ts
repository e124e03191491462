/** The finding of a node at which nothing is under way: not due, kept from repair, or due for the next action of its ladder. Pure. */
import { earlierReplacement, nameOfLaunch } from './earlier-replacement.ts';
import { type Finding, findingOf } from './finding.ts';
import { isRecordNeeded, readableSettings } from './incident.ts';
import { allActionsOf, keyOf } from './ladder.ts';
import { actionsTakenBefore, earlierTakenReturns, nextAction, type NextAction, retryText } from './next-action.ts';
import type { NodeFacts } from './node-facts.ts';
import {
  BLOCKED_CHECK,
  type EntryPolicy,
  LAUNCH_CHECK,
  type OwnDueVerdict,
  type OwnVerdict,
  type PossibleAction,
} from './verdict.ts';
import type { Attempt } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import { formatDuration } from '../../../../shared/domain/go-duration.ts';
import { deadlineBy, hasDeadlineBy, type NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import { AWS_REPAIR_CONDITIONS, matchRepairConditions } from '../../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  minutes,
  toDurationMs,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);

/** A node on which another controller is at work is looked at this often: no event tells that the work has ended. */
const OTHERS_CHECK = minutes(1);

/**
 * Judges a node at which nothing is under way, by its own state and by the ladder.
 * @param unfinished an attempt that another run did not carry out
 */
export function judgeByLadder(facts: NodeFacts, unfinished?: Attempt): Finding {
  const { own, node, record } = facts;
  const { now } = facts.context;
  switch (own.kind) {
    case 'ignore':
    case 'refuse':
      return judgeNotDue(facts, own);
    case 'tolerate':
      return findingOf(record, { ...own, node }, own.dueCondition.dueTime);
    case 'unclaimed':
    case 'blockedByNode':
    case 'vetoed':
    case 'finishing': {
      const isUnderOtherWork = own.kind === 'blockedByNode' && own.reason === 'BeingDisrupted';
      const check = addDuration(now, isUnderOtherWork ? OTHERS_CHECK : BLOCKED_CHECK);
      const ends = own.kind === 'vetoed' ? own.veto.until : undefined;
      return findingOf(record, { ...own, node }, earliest(ends, check));
    }
    case 'due':
      return judgeDue(facts, own, unfinished);
  }
}

/** Judges a healthy node, or one that cannot be judged. */
function judgeNotDue(
  { node, record, context: { now, repair }, isUnhealthy, wasUnhealthy, isOn }: NodeFacts,
  own: Extract<OwnVerdict, { kind: 'ignore' | 'refuse' }>,
): Finding {
  const verdict = { ...own, node };
  const { leftovers } = record;
  if (own.kind === 'refuse' || own.reason === 'NoTransitionTime') {
    // While repair is off, what an attempt has set is taken back at once.
    const hasUselessLeftovers = !isOn && (leftovers?.annotation !== undefined || leftovers?.drain !== undefined);
    return findingOf(record, verdict, addDuration(now, FAULT_CHECK), { hasUselessLeftovers });
  }
  const more = { hasUselessLeftovers: leftovers !== undefined };
  const isUnhealthyByDefault = isUnhealthy || matchRepairConditions(node, AWS_REPAIR_CONDITIONS).length > 0;
  const check = own.reason === 'InstanceStopped' ? addDuration(now, BLOCKED_CHECK) : undefined;
  if (own.reason !== 'Healthy' && isUnhealthyByDefault) return findingOf(record, verdict, check, more);
  const window = readableSettings(repair)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const nextLookTime = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  const countedFor = toDurationMs(Math.max(0, ...allActionsOf(repair).map(({ within }) => within)));
  const kept = isRecordNeeded(record, { kind: 'healthy', now, countedFor }) ? record : undefined;
  return findingOf(kept, wasUnhealthy ? verdict : undefined, nextLookTime, more);
}

/** Judges a node that is due: its next action, or why there is none. @param unfinished an attempt that another run did not carry out */
function judgeDue(facts: NodeFacts, own: OwnDueVerdict, unfinished: Attempt | undefined): Finding {
  const { node, record, context } = facts;
  const { now, launchPause } = context;
  const { dueCondition, ladder, claim } = own;
  const { incident, acts, refusals } = record;
  if (incident?.stopped !== undefined) {
    const message = `${own.message}; ${incident.stopped}`;
    return findingOf(record, { kind: 'exhausted', node, message }, addDuration(now, BLOCKED_CHECK));
  }
  const taken = incident?.taken ?? actionsTakenBefore(record, dueCondition.conditionType, ladder, now);
  const { skippedLaunches } = incident ?? {};
  const basis = context.basisOf(claim);
  const requested = ladder.findIndex(each => keyOf(each) === record.leftovers?.requested?.key);
  const openActions = ladder.slice(Math.max(0, requested));
  const launchesFrom = launchPause?.until;
  const next = nextAction({ ladder: openActions, taken, acts, refusals, basis, skippedLaunches, launchesFrom }, now);
  const begun = { ...record, incident: { ...incident, type: dueCondition.conditionType, taken: [...taken] } };
  const replaced = unfinished === undefined ? judgeReplaced({ facts, own, begun }, next) : undefined;
  if (replaced !== undefined) return replaced;
  switch (next.kind) {
    case 'next': {
      const { action } = next;
      if (action.type === 'Terminate' && claim !== undefined && endsAnyway(claim, own.entryPolicy, now)) {
        const message = `NodeClaim ${claim.name} is being deleted already, and a repair would not end it sooner`;
        const verdict = { kind: 'finishing', node, dueCondition, message } as const;
        return findingOf(record, verdict, addDuration(now, BLOCKED_CHECK));
      }
      const laterActions = ladder.slice(ladder.indexOf(action) + 1).filter(each => !taken.includes(keyOf(each)));
      const same = unfinished?.key === keyOf(action) ? unfinished : undefined;
      const named =
        action.type === 'Replace'
          ? {
              ...action,
              launch: { ...action.launch, name: nameOfLaunch(action.launch, record, { node, claims: context.claims }) },
            }
          : action;
      return findingOf(begun, { ...own, node, action: named, laterActions, unfinished: same });
    }
    case 'refused': {
      const message = `${own.message}; refused: ${next.message}; ${retryText(next.until)}`;
      return findingOf(record, { kind: 'retry', node, message }, next.until);
    }
    case 'unavailable': {
      const message = `${own.message}; no replacement can be launched: ${retryText(next.until)}`;
      const verdict = { kind: 'blockedByNode', node, reason: 'ReplacementUnavailable', dueCondition, message } as const;
      return findingOf(record, verdict, next.until);
    }
    case 'exhausted': {
      const earlierReturn = incident === undefined ? earlierTakenReturns(record, taken, ladder, now) : undefined;
      const returnTime = earliest(next.until, earlierReturn);
      const returns = returnTime === undefined ? '' : `; an allowance returns at ${toTimestamp(returnTime)}`;
      const list = ladder.map(({ type, timeout }) => `${type} ${formatDuration(timeout)}`).join(', ');
      const over = `every action of repair.actions (${list}) was taken or has no attempt left, no further action is set${returns}`;
      const message = list === '' ? 'without a NodeClaim of a NodePool there is nothing to replace' : over;
      const nextLookTime = earliest(returnTime, addDuration(now, BLOCKED_CHECK));
      return findingOf(record, { kind: 'exhausted', node, message }, nextLookTime);
    }
  }
}

/**
 * Judges a node that an earlier launch has left a replacement for: that takes its place, and needs neither an attempt nor the end of the
 * pool's pause. undefined: there is none, or an action before the launch has its turn.
 */
function judgeReplaced(
  {
    facts: { node, record, context },
    own,
    begun,
  }: { readonly facts: NodeFacts; readonly own: OwnDueVerdict; readonly begun: NodeRecord },
  next: NextAction<PossibleAction>,
): Finding | undefined {
  const launch = own.ladder.find(({ type }) => type === 'Replace');
  const isLaunch = next.kind === 'next' && next.action.type === 'Replace';
  const isAtEnd = next.kind === 'exhausted' || next.kind === 'unavailable';
  if (launch === undefined || !(isLaunch || isAtEnd) || context.repair.mode !== 'Enforce') return undefined;
  const found = earlierReplacement(record, launch, context);
  // What is deleted is in the way of a launch alone.
  const earlier = isLaunch || found?.isInUse === true ? found : undefined;
  const { now } = context;
  switch (earlier?.kind) {
    case undefined:
      return undefined;
    case 'ready':
      return findingOf(begun, { ...own, node, action: earlier.action, laterActions: [], unfinished: undefined });
    case 'waits': {
      const { dueCondition } = own;
      const message = `${own.message}; ${earlier.message}`;
      const verdict = { kind: 'blockedByNode', node, reason: 'ReplacementUnavailable', dueCondition, message } as const;
      return findingOf(record, verdict, addDuration(now, LAUNCH_CHECK));
    }
  }
}

/** Whether the NodeClaim is being deleted, and no deadline of a repair would bring its end forward. */
function endsAnyway(claim: NodeClaimView, { drainBound }: Pick<EntryPolicy, 'drainBound'>, now: EpochMs): boolean {
  if (claim.deletionTime === undefined) return false;
  const deadline = deadlineBy(claim, drainBound, now);
  return deadline === undefined || hasDeadlineBy(claim, deadline);
}
