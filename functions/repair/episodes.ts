/** The unhealthy times of one node, as they are remembered for `flapping`. Pure. */
import type { NodeView } from '../../shared/domain/node.ts';
import { matchStatements, statementsOf, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { unhealthySince, type Episode } from './incident.ts';

/** No more than so many are remembered: the newest. A condition flips by the minute, hardly more often. */
const MAX_EPISODES = 100;

/**
 * What is remembered after a look at the node. A node is never charged for time in which it may have been well: an episode that
 * another one follows without a look in between ended at an unknown time, and does not count.
 */
export function nextEpisodes(
  node: Pick<NodeView, 'conditions'>,
  settings: RepairSettings,
  before: readonly Episode[],
  now: EpochMs,
): readonly Episode[] {
  const rule = settings.flapping;
  if (rule === undefined) return [];
  const since = unhealthySince(matchStatements(node, statementsOf(settings)));
  const closed = before.map((episode): Episode => {
    if (episode.endTime !== undefined) return episode;
    if (since !== undefined && since <= episode.startTime) return episode;
    return { ...episode, endTime: since === undefined ? recoveryTime(node, episode, now) : episode.startTime };
  });
  const isOpen = closed.some(({ endTime }) => endTime === undefined);
  const opened = since === undefined || isOpen ? closed : [...closed, { startTime: since }];
  return opened
    .filter(({ startTime, endTime }) => endTime === undefined || (endTime > startTime && endTime + rule.window > now))
    .slice(-MAX_EPISODES);
}

/** When the node got well: the first transition after the beginning. */
function recoveryTime({ conditions }: Pick<NodeView, 'conditions'>, { startTime }: Episode, now: EpochMs): EpochMs {
  const times = conditions.flatMap(({ lastTransitionTime }) => lastTransitionTime ?? []);
  return times.filter(time => time > startTime).reduce((first, time) => (time < first ? time : first), now);
}
