/** Flapping: adds up for how long a node was unhealthy within a window, over several incidents. Pure. */
import type { Episode, Onset } from '../record.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  isDue,
  latest,
  toDurationMs,
  toEpochMs,
} from '../../../../shared/domain/time.ts';

/** A repair condition that is true of a node, and since when as far as that can be believed; undefined: nobody says. */
export interface LastingCondition {
  readonly condition: Pick<NodeCondition, 'type' | 'status'>;
  readonly onset: Pick<Onset, 'start'> | undefined;
}

/** The earliest start of these repair conditions; undefined: none has one. */
const unhealthySince = (unhealthy: readonly LastingCondition[]): EpochMs | undefined =>
  unhealthy.map(({ onset }) => onset?.start).reduce<EpochMs | undefined>(earliest, undefined);

/**
 * The time at which the unhealthy time within the sliding window reaches `unhealthyFor`, if the node stays as it is.
 * While the node is unhealthy the sum never falls: each instant adds itself and drops at most one.
 *
 * @param episodes earlier ones; time that several of them cover, or that is after `since`, counts once
 */
export function cumulativeDueTime(
  since: EpochMs,
  episodes: readonly Episode[],
  { window, unhealthyFor }: { readonly window: DurationMs; readonly unhealthyFor: DurationMs },
): EpochMs | undefined {
  const ended = withoutOverlaps(episodes, since);
  const within = (time: number): number =>
    ended.reduce((sum, { start, end }) => sum + Math.max(0, end - Math.max(start, time - window)), 0) +
    Math.min(time - since, window);
  // The sum bends where an old episode begins to leave the window, and where it has left.
  const bends = ended.flatMap(({ start, end }) => [start + window, end + window]).filter(time => time > since);
  let from: number = since;
  for (const to of [...bends, Infinity]) {
    const missing = unhealthyFor - within(from);
    if (missing <= 0) return toEpochMs(from);
    const isRising = within(from + 1) > within(from);
    if (isRising && from + missing <= to) return addDuration(toEpochMs(from), toDurationMs(missing));
    from = to;
  }
  return undefined;
}

/**
 * The unhealthy times until `since`, in their order, none of them counted twice: a condition seen late may have begun
 * before others ended.
 */
function withoutOverlaps(episodes: readonly Episode[], since: EpochMs) {
  const disjoint: { readonly start: number; readonly end: number }[] = [];
  let counted = -Infinity;
  for (const { startTime, endTime = since } of episodes.toSorted((a, b) => a.startTime - b.startTime)) {
    const start = Math.max(startTime, counted);
    const end = Math.min(endTime, since);
    if (end <= start) continue;
    disjoint.push({ start, end });
    counted = end;
  }
  return disjoint;
}

/** The number of episodes that a record keeps, the newest ones. A condition hardly flips more than once a minute. */
const MAX_EPISODES = 100;

/**
 * The episodes that the record keeps after a look at the node. A node is never charged for time in which it is known to
 * have been well, nor for what a wrong clock says: an episode begins where the repair conditions do. The condition that
 * began an episode may go and come back between two looks. Then the episode ended at an unknown time, and does not count.
 */
export function nextEpisodes(
  node: Pick<NodeView, 'conditions'>,
  { window, unhealthy }: { readonly window: DurationMs; readonly unhealthy: readonly LastingCondition[] },
  episodesBefore: readonly Episode[],
  now: EpochMs,
): readonly Episode[] {
  const since = unhealthySince(unhealthy);
  const closed = episodesBefore.map((episode): Episode => {
    const { startTime, endTime } = episode;
    if (endTime !== undefined || (since !== undefined && since <= startTime)) return episode;
    return { startTime, endTime: episodeEnd(node, episode, { since, now }) };
  });
  const isOpen = closed.some(({ endTime }) => endTime === undefined);
  const opened: readonly Episode[] =
    since === undefined || isOpen ? closed : [...closed, { startTime: since, began: begun(unhealthy, since) }];
  return opened
    .filter(
      ({ startTime, endTime }) =>
        endTime === undefined || (endTime > startTime && !isDue(now, addDuration(endTime, window))),
    )
    .slice(-MAX_EPISODES);
}

const begun = (unhealthy: readonly LastingCondition[], since: EpochMs): Episode['began'] =>
  unhealthy.filter(({ onset }) => onset?.start === since).map(({ condition: { type, status } }) => ({ type, status }));

/**
 * The time at which the last of the conditions that began the episode ended; the start of the episode if that is not
 * known.
 */
function episodeEnd(
  { conditions }: Pick<NodeView, 'conditions'>,
  { startTime, began }: Episode,
  { since, now }: { readonly since: EpochMs | undefined; readonly now: EpochMs },
): EpochMs {
  const ends = (began ?? []).map(({ type, status }): EpochMs => {
    const condition = conditions.find(each => each.type === type);
    const time = condition?.lastTransitionTime ?? startTime;
    if (condition !== undefined && condition.status !== status) return time < now ? time : now;
    // Taken away, or not counted any more without a transition of its own: until that is seen.
    return time === startTime ? now : startTime;
  });
  return earliest(since, ends.reduce(latest, startTime));
}
