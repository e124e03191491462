/** The end of a pass that failed. */
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';
import { poolSubject } from '../record.ts';
import { PASS_SPACING, type OpenPool, type PassDeps } from './deps.ts';
import { ended } from './outcomes.ts';

/** A pass that failed keeps no other one waiting. Where even this fails, the timer of the record ends it. */
export async function stepAside(deps: PassDeps, { pool, record }: OpenPool, passTime: EpochMs): Promise<void> {
  try {
    const held = await record.load();
    if (held.kind !== 'held' || held.value.passTime !== passTime || held.value.underWay === undefined) return;
    const now = deps.clock.now();
    const { nextWakeTime = now } = held.stored;
    const isAskedFor = held.value.wanted ?? held.value.changed;
    const wakeTime = isAskedFor ? addDuration(now, PASS_SPACING) : nextWakeTime;
    await record.save({ subject: poolSubject(pool), value: { ...ended(held.value), calm: undefined }, wakeTime });
  } catch {
    // The error of the pass itself is the one to be seen.
  }
}
