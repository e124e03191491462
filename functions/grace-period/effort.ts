/** How long to wait before an annotation is put back that somebody keeps removing: no patch war, no message a minute. Pure. */
import type { Effort } from './record.ts';
import type { NodeChange } from './node-change.ts';
import { addDuration, hours, isDue, minutes, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';

/** Doubled each time. */
const FIRST_RETRY = minutes(1);
const LONGEST_RETRY = hours(1);
/** An annotation that somebody removed is put back at once this often; from then on it looks like a quarrel of two controllers. */
const FREE_RESTORES = 3;

const isRestoring = (change: NodeChange): boolean => change.kind === 'hold' && change.reason === 'AnnotationRemoved';

/** When a change that is wanted may be made; undefined: now. */
export function retryTimeOf(wanted: NodeChange, effort: Effort | undefined, now: EpochMs): EpochMs | undefined {
  const failures = effort === undefined || !isRestoring(wanted) ? 0 : effort.times - FREE_RESTORES + 1;
  if (effort === undefined || failures <= 0) return undefined;
  const wait = toDurationMs(Math.min(FIRST_RETRY * 2 ** (failures - 1), LONGEST_RETRY));
  const time = addDuration(effort.lastTime, wait);
  return isDue(now, time) ? undefined : time;
}

/** The memory after a change of the Node was made. */
export function effortAfter(before: Effort | undefined, change: NodeChange, now: EpochMs): Effort | undefined {
  // An annotation that then stays for twice the longest wait ends the quarrel.
  const isOld = before !== undefined && isDue(now, addDuration(before.lastTime, toDurationMs(2 * LONGEST_RETRY)));
  const known = isOld ? undefined : before;
  return isRestoring(change) ? { times: (known?.times ?? 0) + 1, lastTime: now } : known;
}
