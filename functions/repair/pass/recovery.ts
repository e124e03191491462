/** When the repair of a node is over: it was well. A later illness is another one, with a toleration of its own (I3). Pure. */
import type { NodeView } from '../../../shared/domain/node.ts';
import { matchStatements, statementsOf } from '../../../shared/domain/repair-policy.ts';
import { isDue, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { RepairRules } from '../decide.ts';
import { rungsOf, staleOf, type OpenAttempts } from './attempts.ts';
import { actBefore, placeBefore } from './place.ts';
import type { NodeLook, Verdict } from './verdict.ts';
import type { RepairAttempt, Rung } from './pool.ts';

/** An act that leaves the node in its place, so that it can get well. */
export const isInPlace = ({ action, phase }: RepairAttempt): boolean => action !== 'Terminate' || phase === 'observed';

/** How the repair of a node ends by what is seen of its health; undefined: it does not. */
export function endOfRepair(
  attempt: RepairAttempt,
  node: NodeView,
  isWell: boolean,
  { now, open }: { readonly now: EpochMs; readonly open: OpenAttempts },
): NodeLook | undefined {
  // A termination that could not be carried out ends nothing but the ladder.
  if (attempt.action === 'Terminate' && attempt.answer !== undefined) return isWell ? { over: attempt } : undefined;
  if (!isInPlace(attempt)) return isWell ? withoutHelp(attempt, open.claimless.has(attempt)) : undefined;
  if (!isWell) return attempt.wellTime === undefined ? undefined : { over: attempt };
  if (awaitsReboot(attempt, node, now)) return rememberWell(attempt, now);
  const message = `the node is well again after ${attempt.action}${rebootSeen(attempt, node)}`;
  return { over: attempt, verdict: { kind: 'recovered', node, attempt, message } };
}

/**
 * The termination goes on, and who was asked for help before it is not needed any more. A drain is, for as long as the NodeClaim is on
 * its way.
 */
function withoutHelp(attempt: RepairAttempt, isClaimGone: boolean): NodeLook {
  const { resources, mayHaveMade, requestId, ...rest } = attempt;
  const drain = isClaimGone ? undefined : requestId;
  if (resources === undefined && mayHaveMade === undefined && requestId === drain) return {};
  const changed = { ...rest, ...(drain !== undefined && { requestId: drain }) };
  return { changed, calledOff: { ...attempt, action: isClaimGone ? 'Drain' : 'CustomResource' } };
}

/** An attempt without an outcome waits for it; that the node was well meanwhile is remembered. */
export function lookAtSettling(
  attempt: RepairAttempt,
  node: NodeView,
  isWell: boolean,
  now: EpochMs,
): NodeLook | undefined {
  const verdict = settling(attempt, node);
  return verdict && { verdict, ...(isWell && rememberWell(attempt, now)) };
}

const rememberWell = (attempt: RepairAttempt, now: EpochMs): NodeLook =>
  attempt.wellTime === undefined ? { changed: { ...attempt, wellTime: now } } : {};

/** The look at a node while nothing may be repaired: its repair may end nevertheless, and what of it goes on is called off. */
export function lookWhileOff(node: NodeView, open: OpenAttempts, rules: RepairRules, now: EpochMs): NodeLook {
  const attempt = open.byNode.get(node.uid);
  if (attempt === undefined) {
    const stale = staleOf(node, open);
    return stale === undefined || isWellAfter(stale, node, rules) ? {} : placeOf(stale, rules);
  }
  const isWell = isWellAfter(attempt, node, rules);
  const ended = lookAtSettling(attempt, node, isWell, now) ?? endOfRepair(attempt, node, isWell, { now, open });
  if (ended !== undefined) return ended;
  // A block that cannot be read is a mistake: nobody asks by it for the end of a drain.
  const isWanted = rules.settings !== undefined && 'invalid' in rules.settings && rules.gateOpen;
  return isWanted || !canBeCalledOff(attempt) ? {} : { over: attempt, ...placeOf(attempt, rules) };
}

function placeOf(attempt: RepairAttempt, { settings }: RepairRules): NodeLook {
  const place = settings === undefined || 'invalid' in settings ? undefined : placeBefore(attempt, rungsOf(settings));
  return place === undefined ? {} : { place };
}

/**
 * A drain under way. Others answer to a custom resource, and are not interrupted at half way; a drain that stands for the place in
 * the ladder (`placeBefore`) is over.
 */
export function canBeCalledOff({ action, phase, answer, until, intendedTime }: RepairAttempt): boolean {
  return action === 'Drain' && phase === 'accepted' && answer === undefined && until !== intendedTime;
}

/** The same in mode `Observe`, which shows its times and has nothing of it done. */
export function asObserved(attempt: RepairAttempt, rungs: readonly Rung[]): RepairAttempt {
  const { requestId: _, resources: __, mayHaveMade: ___, ...rest } = attempt;
  const carriedOut = actBefore(attempt, rungs);
  return { ...rest, phase: 'observed', ...(carriedOut && { carriedOut }) };
}

/** Without settings the provider's statements count, and the condition with which the repair began. */
function isWellAfter({ incident }: RepairAttempt, node: NodeView, { settings }: RepairRules): boolean {
  if (settings !== undefined && !('invalid' in settings)) {
    return matchStatements(node, statementsOf(settings)).length === 0;
  }
  const { conditionType, conditionStatus } = incident;
  const isSame = node.conditions.some(({ type, status }) => type === conditionType && status === conditionStatus);
  return !isSame && matchStatements(node).length === 0;
}

/** The machine was asked to reboot and has not yet: its condition may still say what it said before. */
function awaitsReboot({ action, phase, bootID, until }: RepairAttempt, node: NodeView, now: EpochMs): boolean {
  if (action !== 'Reboot' || phase === 'observed' || bootID === undefined || until === undefined) return false;
  return node.bootID === bootID && !isDue(now, until);
}

function rebootSeen({ action, phase, bootID }: RepairAttempt, node: NodeView): string {
  if (action !== 'Reboot' || phase === 'observed' || bootID === undefined) return '';
  return node.bootID === bootID
    ? ', although its boot ID is the same as before'
    : ` (boot ID ${node.bootID ?? 'none'})`;
}

/** What an attempt that has no outcome yet says of its node. */
function settling({ phase, number, action, answer, retryTime }: RepairAttempt, node: NodeView): Verdict | undefined {
  if (phase === 'intended') return { kind: 'settle', node, message: `attempt ${number} may still be under way` };
  if (phase !== 'refused') return undefined;
  const again = retryTime === undefined ? '' : `; it is tried again at ${toTimestamp(retryTime)}`;
  return { kind: 'retry', node, message: `${action} could not be carried out: ${answer?.message ?? ''}${again}` };
}
