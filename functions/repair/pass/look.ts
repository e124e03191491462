/** What a pass finds of one node of its pool: a verdict of its own, or a candidate for repair. Pure. */
import { NODE_POOL_LABEL } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { ownerOf, type Owner, type OwnerIndex } from '../../../shared/domain/node-owner.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { decide, vetoCheckTime, type DueNode, type NodeDecision, type RepairRules } from '../decide.ts';
import type { Episode, RepairIncident } from '../incident.ts';
import { rungsOf, staleOf, standingOf, type OpenAttempts } from './attempts.ts';
import { hasBegun, placeBefore } from './place.ts';
import type { Candidate } from './grant.ts';
import { BLOCKED_RETRY } from './guards.ts';
import type { RepairAttempt } from './pool.ts';
import { asObserved, canBeCalledOff, endOfRepair, isInPlace, lookAtSettling } from './recovery.ts';
import type { NodeLook } from './verdict.ts';

/** A repaired node that is still there is looked at this often, so that an attempt never goes out of sight. */
export const FINISHING_CHECK = minutes(5);

/** What one node is judged by. */
export interface LookContext {
  readonly now: EpochMs;
  readonly rules: RepairRules;
  readonly settings: RepairSettings;
  readonly owners: OwnerIndex;
  readonly open: OpenAttempts;
  readonly episodes: ReadonlyMap<string, readonly Episode[]>;
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}

type HoldOf = (due: DueNode) => Candidate['hold'];

/** @param hold what the guards say of a due node */
export function lookAt(context: LookContext, node: NodeView, hold: HoldOf): NodeLook {
  const { now, open, rules, settings } = context;
  const previous = open.byNode.get(node.uid);
  if (previous !== undefined) return lookAtRepaired(context, node, previous, hold);
  // Another illness takes nothing over, and mode Observe goes on without it: what an attempt left is taken back.
  const left = staleOf(node, open);
  const isObserved = rules.mode === 'Observe';
  const stale = isObserved ? undefined : left;
  const rungs = rungsOf(settings);
  const before = left && placeBefore(left, rungs);
  const escalates = stale?.escalates === true ? stale.incident : before?.incident;
  const decision = decideOn(context, node, escalates);
  const kept = isWellBy(decision) ? undefined : before;
  const place = kept && { place: kept };
  if (decision.kind !== 'due') return { ...lookOf(decision, node, now), ...place };
  const isSameAct = stale !== undefined && rungs[stale.rung]?.type === stale.action;
  const observedAfter = isObserved ? kept : undefined;
  const rung = isSameAct ? stale.rung : observedAfter === undefined ? 0 : observedAfter.rung + 1;
  const candidate = { node, due: decision, hold: hold(decision), rung, previous: observedAfter, stale };
  return { candidate, ...place };
}

function decideOn({ now, rules, owners, episodes }: LookContext, node: NodeView, escalates?: RepairIncident) {
  const owner = ownerOf(node, owners);
  return decide({ now, node, owner, rules, episodes: episodes.get(node.uid) ?? [], escalates });
}

const isWellBy = (decision: NodeDecision): boolean => decision.kind === 'ignore' && decision.reason === 'Healthy';

/** Another illness than the one that an attempt was made for. */
function lookAfresh(context: LookContext, node: NodeView, hold: HoldOf): NodeLook {
  const due = decideOn(context, node);
  if (due.kind !== 'due') return lookOf(due, node, context.now);
  return { candidate: { node, due, hold: hold(due), rung: 0, previous: undefined, stale: undefined } };
}

/** A node at which an attempt was made before: it may have helped, may still help, or the next rung's turn has come. */
function lookAtRepaired(context: LookContext, node: NodeView, previous: RepairAttempt, hold: HoldOf): NodeLook {
  const { now } = context;
  const inPlace = isInPlace(previous);
  const decision = decideOn(context, node, inPlace && hasBegun(previous) ? previous.incident : undefined);
  // A repair that has begun is not tolerated again.
  if (inPlace && decision.kind === 'tolerate') return { over: previous, ...lookOf(decision, node, now) };
  const isWell = isWellBy(decision);
  const waiting = lookAtSettling(previous, node, isWell, now);
  if (waiting !== undefined) return waiting;
  const end = endOfRepair(previous, node, isWell, context);
  if (end !== undefined) return isWell ? end : { ...end, ...lookAfresh(context, node, hold) };
  if (context.rules.mode === 'Observe' && canBeCalledOff(previous)) {
    const observed = asObserved(previous, rungsOf(context.settings));
    return { ...lookAtStanding(context, node, observed, { decision, hold }), calledOff: previous, changed: observed };
  }
  return lookAtStanding(context, node, previous, { decision, hold });
}

/** Whose turn it is: still that of the attempt, or the next rung's. */
function lookAtStanding(
  { now, settings }: LookContext,
  node: NodeView,
  previous: RepairAttempt,
  { decision, hold }: { readonly decision: NodeDecision; readonly hold: HoldOf },
): NodeLook {
  const standing = standingOf(previous, rungsOf(settings), now);
  if (decision.kind !== 'due') {
    const isWatched = decision.kind === 'finishing' || standing.kind !== 'waiting';
    return isWatched ? lookOf(decision, node, now) : {};
  }
  switch (standing.kind) {
    case 'waiting':
      if (previous.phase === 'observed') return {};
      return { verdict: { kind: 'finishing', node, message: describeAttempt(previous) } };
    case 'exhausted':
      return { verdict: { kind: 'exhausted', node, message: describeEnd(previous) } };
    case 'next': {
      const { rung } = standing;
      return { candidate: { node, due: decision, hold: hold(decision), rung, previous, stale: undefined } };
    }
  }
}

/** The look at a node that is not due. */
function lookOf(decision: Exclude<NodeDecision, DueNode>, node: NodeView, now: EpochMs): NodeLook {
  const { message } = decision;
  switch (decision.kind) {
    case 'vetoed':
      return { verdict: { kind: 'vetoed', node, decision, message }, time: vetoCheckTime(decision.veto, now) };
    case 'blocked':
      return {
        verdict: { kind: 'blocked', node, reason: decision.reason, message },
        time: addDuration(now, BLOCKED_RETRY),
      };
    case 'finishing':
      return { verdict: { kind: 'finishing', node, message }, time: addDuration(now, FINISHING_CHECK) };
    case 'ignore':
      if (decision.reason !== 'NoNodeClaim') return {};
      return { verdict: { kind: 'unclaimed', node, message }, time: addDuration(now, BLOCKED_RETRY) };
    case 'refuse':
    case 'tolerate':
      return {};
  }
}

function describeAttempt({ action, node, claim, until }: RepairAttempt): string {
  if (action === 'Terminate') {
    return claim === undefined
      ? `the instance of Node ${node.name} is being terminated`
      : `NodeClaim ${claim.name} is being terminated`;
  }
  return `${action} is under way${until === undefined ? '' : ` until ${toTimestamp(until)}`}`;
}

function describeEnd({ action, answer }: RepairAttempt): string {
  if (answer?.kind === 'stopped') return `${answer.message}; the node is left alone until it was well again`;
  const why = answer?.kind === 'failed' ? `: ${answer.message}` : '';
  return `${action} did not help${why}; no further action is set`;
}
