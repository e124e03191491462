/**
 * The ramp: after a freeze, a zone outage or a threshold, a pool begins its repairs slowly: 1, 2, 4 … a minute. Pure.
 */
import type { PoolRecord, Ramp } from '../pool-record.ts';
import type { Blocker } from '../node/rule/verdict.ts';
import { begunTime, type NodeFinding } from '../node/rule/finding.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, hours, isDue, minutes, toTimestamp } from '../../../shared/domain/time.ts';

const STEP = minutes(1);

/** A ramp of which nobody made use for this long is over. */
const KEPT_FOR = hours(24);

/**
 * The ramp of this pass; undefined: repairs are not slowed down. A step that is over is followed by the next one, which waits for its
 * first act. The ramp ends with a step that allows as many repairs as the pool has nodes.
 * @param blockingGuards those that block a due repair now
 */
export function nextRamp(
  { ramp, blockingGuards: guardsBefore }: Pick<PoolRecord, 'ramp' | 'blockingGuards'>,
  { blockingGuards, poolSize }: { readonly blockingGuards: readonly string[]; readonly poolSize: number },
  now: EpochMs,
): Ramp | undefined {
  if (guardsBefore.some(guard => !blockingGuards.includes(guard))) return { step: 0, stepTime: now, granted: 0 };
  const current = unexpiredRamp(ramp, now);
  if (current === undefined) return undefined;
  const isStepOver = current.granted > 0 && isDue(now, addDuration(current.stepTime, STEP));
  if (!isStepOver) return current;
  const next = { step: current.step + 1, stepTime: now, granted: 0 };
  return rampAllows(next) < poolSize ? next : undefined;
}

/** The ramp, as long as it is remembered, whether or not repair is on meanwhile. */
export const unexpiredRamp = (ramp: Ramp | undefined, now: EpochMs): Ramp | undefined =>
  ramp === undefined || isDue(now, addDuration(ramp.stepTime, KEPT_FOR)) ? undefined : ramp;

/**
 * The time at which the step of the ramp is over. For a step that is over or has not begun, the time at which the ramp
 * is forgotten: such a step, as while repair is off, asks for no pass.
 */
export function rampWakeTime({ stepTime, granted }: Ramp, now: EpochMs): EpochMs {
  const stepEnd = addDuration(stepTime, STEP);
  return granted > 0 && !isDue(now, stepEnd) ? stepEnd : addDuration(stepTime, KEPT_FOR);
}

/** Number of repairs that the ramp still allows in its step. */
export const rampAllows = (ramp: Ramp | undefined): number =>
  ramp === undefined ? Infinity : 2 ** Math.min(ramp.step, 30) - ramp.granted;

/** The ramp after `granted` more repairs have begun. */
export function advanceRamp(ramp: Ramp | undefined, granted: number, now: EpochMs): Ramp | undefined {
  if (ramp === undefined || granted === 0) return ramp;
  return { ...ramp, stepTime: ramp.granted === 0 ? now : ramp.stepTime, granted: ramp.granted + granted };
}

/**
 * The ramp without repairs of its step that were not carried out: they have shown nothing, and their slots are free.
 */
export const withoutUndoneGrants = (ramp: Ramp | undefined, undone: number): Ramp | undefined =>
  ramp === undefined || undone === 0 ? ramp : { ...ramp, granted: Math.max(0, ramp.granted - undone) };

export function rampBlocker(ramp: Ramp, now: EpochMs): Blocker {
  const next = addDuration(ramp.granted === 0 ? now : ramp.stepTime, STEP);
  return {
    kind: 'ramp',
    reason: 'RampUp',
    message: `repairs start again slowly after an outage: ${2 ** ramp.step} in this minute, twice as many from ${toTimestamp(next)} on`,
    until: next,
  };
}

/** Number of repairs that were granted by a run that died before it carried them out. */
export function countUndoneGrants(findings: readonly NodeFinding[], pool: PoolRecord, now: EpochMs): number {
  const { ramp } = pool;
  return findings.filter(finding => {
    const { record, state } = finding;
    const since = begunTime(finding, pool);
    if (since === undefined || ramp === undefined || since < ramp.stepTime) return false;
    const isRunOver = isDue(now, addDuration(since, RUN_ENDS_WITHIN));
    return isRunOver && state !== 'inFlight' && record?.attempt?.phase !== 'accepted';
  }).length;
}
