/** What a change asks of a pool whose repairs are held: a pass at once, or one for the whole burst of changes. Pure. */
import { seconds, toDurationMs, type DurationMs } from '../../../shared/domain/time.ts';
import { CALM_SPACING, PASS_SPACING } from './deps.ts';
import type { PoolState } from './pool.ts';
import { countHeld } from './say.ts';

/** What a request wants of a pool in this state; undefined: there is no record of it. */
export type Wants = (state: PoolState | undefined) => Wanted;
/** `soon`: after the rest of a burst of changes. `timer`: at once, and by a run of its own. */
export type Wanted = 'nothing' | 'armed' | 'soon' | 'timer' | 'pass';

/** What a change of the pool wants. Without a record nothing is held. */
export const afterChange: Wants = state => {
  if (state === undefined) return 'nothing';
  return waitAfterChange(state) > 0 ? 'soon' : 'pass';
};

/** From so many held repairs on a pass waits for the rest of a burst of changes: one look at all of them is enough. */
const MANY_HELD = 20;
/** For each of them, up to the spacing of passes: the larger the look, the longer the wait. */
const JOIN_EACH = seconds(0.01);

/** How long a pass over the pool waits after the first change of a burst. */
export function waitAfterChange({ calm, said }: PoolState): DurationMs {
  return calm ? CALM_SPACING : joinTime(countHeld(said));
}

/** How long a pass over a pool with so many held repairs waits after the first change of a burst. */
export function joinTime(held: number): DurationMs {
  return held < MANY_HELD ? seconds(0) : toDurationMs(Math.min(held * JOIN_EACH, PASS_SPACING));
}
