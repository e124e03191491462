/** The place in the ladder that is kept for a node while no attempt at it is under way: what was carried out is not repeated. Pure. */
import type { CarriedOut, RepairAttempt, Rung } from './pool.ts';

/**
 * Where the ladder stands while an attempt that was not carried out is not wanted for now: at the action before it, whose time is over,
 * so that nothing is repeated once it is wanted again. Undefined for the first action, and for one that an edit has removed.
 */
export function placeBefore(stale: RepairAttempt, rungs: readonly Rung[]): RepairAttempt | undefined {
  const before = actBefore(stale, rungs);
  return before && placeAt(stale, before);
}

/**
 * Whether anything of the repair was carried out, so that it goes on whatever ails the node by then. Until then another illness has its own
 * toleration (I3).
 */
export const hasBegun = ({ escalates, notTaken }: RepairAttempt): boolean => escalates === true || notTaken !== true;

/** An attempt that is over, and of which nothing was done: the next rung follows it. @param message why not */
export const notTaken = (attempt: RepairAttempt, message: string): RepairAttempt => ({
  ...attempt,
  phase: 'accepted',
  answer: { kind: 'failed', message },
  notTaken: true,
});

/** The act that was carried out before this one. */
export function actBefore({ rung, action, escalates }: RepairAttempt, rungs: readonly Rung[]): CarriedOut | undefined {
  const before = rungs[rung - 1];
  if (escalates !== true || before === undefined || rungs[rung]?.type !== action) return undefined;
  return { rung: rung - 1, action: before.type };
}

function placeAt(attempt: RepairAttempt, { rung, action }: CarriedOut): RepairAttempt {
  const { number, intendedTime, node, claim, incident } = attempt;
  const drained = action === 'Drain' ? attempt.requestId : undefined;
  return {
    number,
    phase: 'accepted',
    intendedTime,
    node,
    ...(claim && { claim }),
    incident,
    rung,
    action,
    ...(rung > 0 && { escalates: true }),
    until: intendedTime,
    ...(drained !== undefined && { requestId: drained }),
  };
}

/** Where the ladder stands after mode `Observe`: at what was carried out before, with what that has made. */
export function placeAfterObserving(observed: RepairAttempt): RepairAttempt | undefined {
  const { carriedOut, resources, mayHaveMade } = observed;
  if (carriedOut === undefined) return undefined;
  return { ...placeAt(observed, carriedOut), ...(resources && { resources }), ...(mayHaveMade && { mayHaveMade }) };
}
