/** The words and details about an attempt, in messages and audit lines. Pure. */
import type { FoundReplacement } from './actions/action.ts';
import type { Attempt, ClaimTermination, DueCondition } from './node/attempt-record.ts';
import { replacementOf } from './node/rule/attempt.ts';
import type { LadderAction } from './node/rule/verdict.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { type EpochMs, toIsoText, toTimestamp } from '../../shared/domain/time.ts';

/** Describes an act at its beginning. @param isObserved the mode is `Observe`: what would be done */
export function describeAct(attempt: Attempt, isObserved = false): string {
  const { action } = attempt;
  const until = toTimestamp(attempt.until);
  const replacement = replacementOf(attempt);
  const is = isObserved ? 'would be' : 'is';
  const has = isObserved ? 'have' : 'has';
  switch (attempt.action) {
    case 'Replace':
      return `a replacement, NodeClaim ${attempt.replacement.name}, ${is} launched, and ${has} time until ${until}`;
    case 'Reboot':
    case 'Drain':
    case 'CustomResource':
      return `${action} ${isObserved ? 'would begin' : 'has begun'}, and ${has} time until ${until}`;
    case 'Terminate': {
      if (attempt.claim === undefined)
        return isObserved
          ? 'the Auto Scaling group of the instance would replace it, and its pods would get no time'
          : 'the instance is terminated in its Auto Scaling group, which replaces it; its pods get no time';
      const place = replacement && !isObserved ? `; NodeClaim ${replacement.name} takes its place` : '';
      return `NodeClaim ${attempt.claim.name} ${is} terminated${podsText(attempt)}${place}`;
    }
  }
}

/** Describes the beginning of an attempt that finds its replacement there, and the actions that come next. */
export function describeFound(
  attempt: Attempt,
  foundReplacement: FoundReplacement,
  later: readonly LadderAction[],
): string {
  const is = `its replacement of before, NodeClaim ${replacementOf(attempt)?.name ?? ''}, is found again`;
  return foundReplacement === 'inUse'
    ? `${is}, and in use`
    : `${is}, and has time until ${toTimestamp(attempt.until)}${nextActionsText(later)}`;
}

/** Says how much time a termination leaves to the pods of the node. */
function podsText(attempt: ClaimTermination): string {
  const end = graceEnd(attempt);
  if (end !== undefined) return `, and its pods have until ${toTimestamp(end)}`;
  return isUnbounded(attempt) ? ', and waits for its pods as long as they take' : ' forcefully';
}

/** The time that a termination of a NodeClaim leaves to the pods; undefined: the attempt is none. */
const podsTimeOf = (attempt: Attempt): ClaimTermination['pods'] | undefined =>
  attempt.action === 'Terminate' && attempt.claim !== undefined ? attempt.pods : undefined;

/** The deadline of the pods; undefined: none is set. */
export function podsUntil(attempt: Attempt): EpochMs | undefined {
  const pods = podsTimeOf(attempt);
  return pods?.kind === 'until' ? pods.time : undefined;
}

/** The time until which a termination waits for its pods; undefined: it does not wait, or waits without end. */
export function graceEnd(attempt: Attempt): EpochMs | undefined {
  const until = podsUntil(attempt);
  return until !== undefined && until > attempt.time ? until : undefined;
}

/** Whether the termination waits for its pods, however long that takes. */
export const isUnbounded = (attempt: Attempt): boolean => podsTimeOf(attempt)?.kind === 'unbounded';

/** A due condition in the details of an audit line. */
export const conditionDetails = (dueCondition: DueCondition): JsonObject => ({
  conditionType: dueCondition.conditionType,
  conditionStatus: dueCondition.conditionStatus,
  dueTime: toIsoText(dueCondition.dueTime),
  lastTransitionTime: toIsoText(dueCondition.lastTransitionTime),
  ...(dueCondition.priority !== undefined && { priority: dueCondition.priority }),
});

/** The numbers that an act rests on, times in RFC 3339. */
export function attemptDetails(attempt: Attempt): JsonObject {
  const { number, claim, action, dueCondition, until } = attempt;
  const replacement = replacementOf(attempt);
  const goneBy = podsUntil(attempt);
  return {
    ...conditionDetails(dueCondition),
    attempt: number,
    action,
    ...(claim && { nodeClaim: claim.name }),
    ...(action !== 'Terminate' && { until: toIsoText(until) }),
    ...(replacement !== undefined && { replacement: replacement.name }),
    ...(goneBy !== undefined && { podsUntil: toIsoText(goneBy) }),
  };
}

/** The end of a message: which actions come next. */
export const nextActionsText = (later: readonly LadderAction[]): string =>
  later.length === 0 ? '' : `; after it, while the node is unhealthy: ${later.map(({ type }) => type).join(', ')}`;
