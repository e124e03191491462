/** When a drain has taken too long: its deadline, where a policy has one, else that nothing has moved. Pure; part of `decide`. */
import { addDuration, earliest, hours, isDue, seconds, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { LimitsInForce } from '../../shared/domain/drain-limits.ts';
import type { ActiveDrain, DrainOutcome } from './model.ts';
import type { DrainPass } from './pass.ts';

/** The last pods that are deleted by force have one second of grace, and Kubernetes writes whole seconds. */
const LAST_PODS_GO = seconds(2);
/** Without a deadline: a drain that does not move for so long says what blocks it. */
const STUCK_AFTER = hours(4);
const STUCK_AGAIN = hours(24);

/** When the drain must be over; undefined: no policy says so. */
function deadlineOf({ startTime, pausedFor, queue }: ActiveDrain, limits: LimitsInForce): EpochMs | undefined {
  if (typeof limits === 'string' || limits.deadline === undefined || queue !== undefined) return undefined;
  return addDuration(addDuration(startTime, limits.deadline), pausedFor ?? toDurationMs(0));
}

/** The instant by which unprotected pods are deleted; undefined: none is. Of a custom drain its controller alone decides. */
export function forcedBy(active: ActiveDrain, limits: LimitsInForce, isCustom: boolean): EpochMs | undefined {
  if (typeof limits === 'string' || limits.onDeadline !== 'Force' || isCustom) return undefined;
  return deadlineOf(active, limits);
}

/** How a drain ends that is past its deadline, with the pods that are left; undefined: it goes on. */
export function pastDeadline(
  active: ActiveDrain,
  { limits, now, isCustom }: { readonly limits: LimitsInForce; readonly now: EpochMs; readonly isCustom: boolean },
  { acts, waits }: DrainPass,
): DrainOutcome | undefined {
  const deadline = deadlineOf(active, limits);
  if (deadline === undefined || !isDue(now, deadline)) return undefined;
  const forced = forcedBy(active, limits, isCustom);
  const isGoing = acts.some(act => act.kind === 'delete') || waits.some(wait => wait.because === 'Terminating');
  if (forced !== undefined && isGoing && !isDue(now, addDuration(deadline, LAST_PODS_GO))) return undefined;
  const left = new Map([...acts, ...waits].map(each => [each.pod.uid, each]));
  const names = [...left.values()].map(
    each => `${each.pod.namespace}/${each.pod.name} (${'because' in each ? each.because : 'Running'})`,
  );
  const what = names.length === 1 ? '1 pod is' : `${names.length} pods are`;
  const message = `not over within drain.deadline, ${what} left${forced === undefined ? '' : ' that must not be forced'}`;
  return { status: 'Failed', reason: 'DeadlineExceeded', message, left: names };
}

/** The drain with the time of its last progress: fewer pods are left than ever before. */
export function withProgress(active: ActiveDrain, { acts, waits }: DrainPass, now: EpochMs): ActiveDrain {
  const pods = new Set([...acts, ...waits].map(({ pod }) => pod.uid)).size;
  const { progress } = active;
  if (progress !== undefined && pods >= progress.pods) return active;
  const { saidTime: _, ...rest } = progress ?? {};
  return { ...active, progress: { ...rest, pods, time: progress === undefined ? active.startTime : now } };
}

/** When it is said that the drain does not move; undefined: never, for it has a deadline. */
export function stuckTime(active: ActiveDrain, limits: LimitsInForce): EpochMs | undefined {
  if (deadlineOf(active, limits) !== undefined || active.queue !== undefined) return undefined;
  const { progress, custom, startTime } = active;
  const moved = custom?.seen?.since ?? progress?.time ?? startTime;
  const said = progress?.saidTime;
  return said !== undefined && said >= moved ? addDuration(said, STUCK_AGAIN) : addDuration(moved, STUCK_AFTER);
}

/** When the deadline changes anything next. */
export function nextByDeadline(active: ActiveDrain, limits: LimitsInForce, now: EpochMs): EpochMs | undefined {
  const deadline = deadlineOf(active, limits);
  if (deadline === undefined) return stuckTime(active, limits);
  return earliest(deadline > now ? deadline : undefined, addDuration(deadline, LAST_PODS_GO));
}
