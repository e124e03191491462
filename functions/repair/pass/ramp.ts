/** How repairs begin again after an outage: 1, then 2, 4 … a minute and pool. Pure. */
import { addDuration, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Hold } from './guards.ts';
import type { PoolState, Ramp } from './pool.ts';

/** How long one step of the ramp lasts. */
export const RAMP_STEP = minutes(1);

/** The ramp of this pass; undefined when repairs are not slowed down. */
export function nextRamp(
  { ramp, outages }: Pick<PoolState, 'ramp' | 'outages'>,
  current: { readonly outages: readonly string[]; readonly isAnythingDue: boolean },
  now: EpochMs,
): Ramp | undefined {
  const isStepOver = ramp !== undefined && ramp.granted > 0 && now >= ramp.stepTime + RAMP_STEP;
  if (!current.isAnythingDue) return ramp === undefined || ramp.granted === 0 || isStepOver ? undefined : ramp;
  const hasEnded = outages.some(outage => !current.outages.includes(outage));
  if (hasEnded) return { step: 0, stepTime: now, granted: 0 };
  return isStepOver ? { step: ramp.step + 1, stepTime: now, granted: 0 } : ramp;
}

/** The same after so many more repairs have begun. */
export function advanceRamp(ramp: Ramp | undefined, granted: number, now: EpochMs): Ramp | undefined {
  if (ramp === undefined || granted === 0) return ramp;
  return { ...ramp, stepTime: ramp.granted === 0 ? now : ramp.stepTime, granted: ramp.granted + granted };
}

/** Repairs that the ramp still allows in its step. */
export function rampAllows(ramp: Ramp | undefined): number {
  return ramp === undefined ? Infinity : 2 ** ramp.step - ramp.granted;
}

export function rampHold(ramp: Ramp, now: EpochMs): Hold {
  const next = addDuration(ramp.granted === 0 ? now : ramp.stepTime, RAMP_STEP);
  return {
    reason: 'RampUp',
    message: `repairs start again slowly after an outage: ${2 ** ramp.step} in this minute, twice as many from ${toTimestamp(next)} on`,
    until: next,
  };
}
