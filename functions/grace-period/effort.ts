/** How long a change of the Node waits that was refused, or that somebody keeps undoing: no patch war, no message a minute. Pure. */
import type { Effort } from './announced.ts';
import type { NodeChange } from './node-change.ts';
import { addDuration, hours, isDue, minutes, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';

/** A change of the Node that was refused, or undone by somebody, is tried again after this long, doubled each time. */
const FIRST_RETRY = minutes(1);
const LONGEST_RETRY = hours(1);
/** What the API server refuses may be let through any time, and no other controller is fought over it (I5). */
export const LONGEST_REFUSED = minutes(5);
/** An annotation that somebody removed is put back at once this often; from then on it looks like a quarrel of two controllers. */
const FREE_RESTORES = 3;

/** When a change that is wanted may be made; undefined: now. */
export function retryTimeOf(wanted: NodeChange, effort: Effort | undefined, now: EpochMs): EpochMs | undefined {
  if (effort === undefined || wanted.kind === 'leave') return undefined;
  const isRestoring = wanted.kind === 'hold' && wanted.reason === 'AnnotationRemoved';
  if (effort.kind === 'restored' && !isRestoring) return undefined;
  const failures = effort.kind === 'restored' ? effort.times - FREE_RESTORES + 1 : effort.times;
  if (failures <= 0) return undefined;
  const longest = effort.kind === 'refused' ? LONGEST_REFUSED : LONGEST_RETRY;
  const wait = toDurationMs(Math.min(FIRST_RETRY * 2 ** (failures - 1), longest));
  const time = addDuration(effort.lastTime, wait);
  return isDue(now, time) ? undefined : time;
}

/** The memory of a change of the Node after it was tried: nothing while it goes well. */
export function effortAfter(
  before: Effort | undefined,
  change: NodeChange,
  result: { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly message: string },
  now: EpochMs,
): Effort | undefined {
  const isRestoring = change.kind === 'hold' && change.reason === 'AnnotationRemoved';
  const kind = result.kind === 'refused' ? 'refused' : isRestoring ? 'restored' : undefined;
  // What was undone and stays for twice the longest wait was no quarrel.
  const isOld = before !== undefined && isDue(now, addDuration(before.lastTime, toDurationMs(2 * LONGEST_RETRY)));
  if (kind === undefined) return before?.kind === 'restored' && !isOld ? before : undefined;
  const times = before?.kind === kind && !isOld ? before.times + 1 : 1;
  return { kind, times, lastTime: now, ...(result.kind === 'refused' && { message: result.message }) };
}
