/**
 * When an illness starts and ends (docs/node-repair.md). Each statement that holds has a clock of its own, which starts when it began to hold:
 * at the condition's transition, but never before the Node was made, and where that time cannot be right at the first look. What stands
 * in the record is kept: an agent may write the time anew with each report. Pure.
 */
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import {
  type RepairSettings,
  type UnhealthyMatch,
  keyOfStatement,
  matchStatements,
  statementsOf,
} from '../../../shared/domain/repair-policy.ts';
import {
  type DurationMs,
  type EpochMs,
  addDuration,
  isDue,
  latest,
  minutes,
  seconds,
  toDurationMs,
  toEpochMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';
import type { Clock, Episode, Illness, NodeRecord, RepairIncident } from './record.ts';

/** A change is told of within seconds: one whose transition lies further back was written by a clock that is behind. */
const LONGEST_LAG = minutes(10);
/** A clock that is ahead by no more is as good as right. */
const CLOCK_SKEW = seconds(5);
/** No rule has been ill for so long: the illness is over. */
export const WELL_FOR = minutes(5);
/** An illness of the same condition goes on in the ladder within so long after the last act. */
export const GOES_ON_WITHIN = minutes(24 * 60);

/** News of a transition that is no older tells what the forwarder saw of it. */
const FRESH = minutes(1);

/** A statement that holds, and since when. */
export interface Ill extends UnhealthyMatch {
  readonly key: string;
  /** undefined: its condition does not say. */
  readonly start: EpochMs | undefined;
  readonly clock: Clock | undefined;
  /** What is wrong with the time that the condition states. */
  readonly doubt?: 'behind' | 'ahead' | undefined;
}

export interface IllnessObservation {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  readonly record: Pick<NodeRecord, 'clocks' | 'episodes'> | undefined;
  /** When the forwarder saw the change that this look is for; undefined: it is for another reason. */
  readonly observedTime?: EpochMs | undefined;
  /** The same, if it is a change of this very node. */
  readonly ownTime?: EpochMs | undefined;
}

/** Every statement that holds of the node, with its clock. */
export function illsOf(node: Pick<NodeView, 'conditions' | 'creationTime'>, look: IllnessObservation): readonly Ill[] {
  return matchStatements(node, statementsOf(look.settings)).map((match): Ill => {
    const key = keyOfStatement(match.statement);
    const kept = look.record?.clocks[key];
    const { lastTransitionTime: stated } = match.condition;
    if (kept !== undefined && stated !== undefined) {
      const clock = clockAfter(kept, stated, look);
      if (clock !== undefined) return { ...match, key, start: clock.start, clock };
    }
    const { start, doubt } = startOf(match, node, look);
    const first = kept?.first ?? kept?.start;
    const clock = start === undefined ? undefined : { start, stated, ...(first !== undefined && { first }) };
    return { ...match, key, start, clock, doubt };
  });
}

/**
 * The clock of a statement that held at the last look. Its time may move although the status stayed: that is certain where a change of the
 * node is told of at once, and nobody saw it well in between. Else it may have been well for a while (I3): undefined, it starts anew.
 */
function clockAfter(kept: Clock, stated: EpochMs, { now, ownTime }: IllnessObservation): Clock | undefined {
  const isFresh = ownTime !== undefined && Math.abs(ownTime - stated) <= FRESH && Math.abs(now - stated) <= FRESH;
  const { first } = kept;
  if (kept.stated === undefined || stated <= kept.stated) {
    if (isFresh && first !== undefined) return { start: first, stated };
    return kept;
  }
  return isFresh ? { start: first ?? kept.start, stated } : undefined;
}

function startOf(
  { statement, condition }: UnhealthyMatch,
  { creationTime }: Pick<NodeView, 'creationTime'>,
  { now, observedTime }: IllnessObservation,
): Pick<Ill, 'start' | 'doubt'> {
  const { lastTransitionTime: stated } = condition;
  if (stated === undefined) return { start: undefined };
  if (!isDue(addDuration(now, CLOCK_SKEW), stated)) return { start: now, doubt: 'ahead' };
  if (observedTime !== undefined && observedTime - stated > LONGEST_LAG) return { start: now, doubt: 'behind' };
  const start = creationTime === undefined ? stated : latest(stated, creationTime);
  // Since when a reason stands nobody says: its transition is that of the status.
  return { start: statement.reason === undefined || now - start <= seconds(1) ? start : now };
}

export type Health =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'noTransitionTime'; readonly message: string }
  | {
      readonly kind: 'unhealthy';
      readonly incident: RepairIncident;
      /** The incident and its due time in words. */
      readonly message: string;
      /** How many statements hold: how unhealthy the node is. */
      readonly severity: number;
      /** The statement that decides. */
      readonly entry: Ill;
      /** Since when any of them has been due. */
      readonly dueSince: EpochMs;
    };

/** A statement with its clock, and when it is due. */
interface Timed {
  readonly ill: Ill;
  readonly start: EpochMs;
  readonly dueTime: EpochMs;
}

const priorityOf = ({ ill: { statement } }: Timed): number => statement.priority ?? 0;

/**
 * The entry that decides: of those that are due the one with the highest priority, then that which is due first, then the first listed.
 *
 * @param episodes looked at only with `flapping`
 */
export function judgeHealth(
  ills: readonly Ill[],
  {
    now,
    settings,
    episodes,
  }: { readonly now: EpochMs; readonly settings: RepairSettings; readonly episodes: readonly Episode[] },
): Health {
  const [some] = ills;
  if (some === undefined) return { kind: 'healthy' };
  const timed = ills
    .flatMap((ill): Timed[] => {
      const { start, statement } = ill;
      return start === undefined ? [] : [{ ill, start, dueTime: addDuration(start, statement.toleration) }];
    })
    .toSorted((a, b) => a.dueTime - b.dueTime);
  const [earliest] = timed;
  const [first = earliest] = timed
    .filter(({ dueTime }) => isDue(now, dueTime))
    .toSorted((a, b) => priorityOf(b) - priorityOf(a));
  if (first === undefined || earliest === undefined) {
    const { type, status } = some.condition;
    const message = `${type}=${status} has no lastTransitionTime that can be read: how long it lasts is not known`;
    return { kind: 'noTransitionTime', message };
  }
  const { ill, start, dueTime } = first;
  const starts = ills.flatMap(each => each.start ?? []);
  const since = starts.reduce((least, time) => (time < least ? time : least));
  const flappingTime = settings.flapping && cumulativeDueTime(since, episodes, settings.flapping);
  const isFlapping = flappingTime !== undefined && flappingTime < dueTime;
  const { statement, condition } = ill;
  const field = isFlapping ? 'spec.repair.flapping' : statement.field;
  const incident: RepairIncident = {
    conditionType: condition.type,
    conditionStatus: condition.status,
    lastTransitionTime: start,
    dueTime: isFlapping ? flappingTime : dueTime,
    ...(field !== undefined && { field }),
    ...(statement.priority !== undefined && statement.priority > 0 && { priority: statement.priority }),
  };
  const why =
    isFlapping && settings.flapping !== undefined
      ? `unhealthy for ${formatDuration(settings.flapping.unhealthyFor)} in all within ${formatDuration(settings.flapping.window)}`
      : `tolerated ${formatDuration(statement.toleration)}`;
  const message = `${condition.type}=${condition.status} since ${toTimestamp(start)}, ${why}${dueClause(incident)}`;
  const dueSince = isFlapping && flappingTime < earliest.dueTime ? flappingTime : earliest.dueTime;
  return { kind: 'unhealthy', incident, message, severity: ills.length, entry: ill, dueSince };
}

/** When an incident is due, at the end of its message. */
export const dueClause = ({ dueTime }: Pick<RepairIncident, 'dueTime'>): string =>
  `, repair is due at ${toTimestamp(dueTime)}`;

/** What is remembered of the clocks after this look. */
export const clocksOf = (ills: readonly Ill[]): NodeRecord['clocks'] =>
  Object.fromEntries(ills.flatMap(({ key, clock }) => (clock === undefined ? [] : [[key, clock]])));

/** The illness as it stands at this look; undefined: it is over, or never began. */
export function illnessAt(illness: Illness | undefined, isIll: boolean, now: EpochMs): Illness | undefined {
  if (illness === undefined) return undefined;
  const { wellTime, ...rest } = illness;
  if (wellTime !== undefined && isDue(now, addDuration(wellTime, WELL_FOR))) return undefined;
  if (isIll) return rest;
  // Nothing was done in it: nothing is to be remembered.
  if (illness.taken.length === 0 && illness.settling === undefined) return undefined;
  return wellTime === undefined ? { ...illness, wellTime: now } : illness;
}

/** Since when at least one of these conditions holds; undefined when none says. */
function unhealthySince(matches: readonly UnhealthyMatch[]): EpochMs | undefined {
  const times = matches.flatMap(({ condition }) => condition.lastTransitionTime ?? []);
  return times.length === 0 ? undefined : times.reduce((first, time) => (time < first ? time : first));
}

/**
 * When the unhealthy time within the sliding window reaches `unhealthyFor`, if the node stays as it is. While the node is unhealthy the sum never falls: each instant adds itself and drops at most one.
 *
 * @param episodes earlier ones; what they share with each other, or with the time since `since`, counts once
 */
function cumulativeDueTime(
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

/** The unhealthy times until `since`, in their order, none of them counted twice: a condition seen late may have begun before others ended. */
function withoutOverlaps(episodes: readonly Episode[], since: EpochMs) {
  const found: { readonly start: number; readonly end: number }[] = [];
  let counted = -Infinity;
  for (const { startTime, endTime = since } of episodes.toSorted((a, b) => a.startTime - b.startTime)) {
    const start = Math.max(startTime, counted);
    const end = Math.min(endTime, since);
    if (end <= start) continue;
    found.push({ start, end });
    counted = end;
  }
  return found;
}

/** No more than so many are remembered: the newest. A condition flips by the minute, hardly more often. */
const MAX_EPISODES = 100;

/**
 * What is remembered after a look at the node. A node is never charged for time in which it is known to have been well: where the
 * condition that an episode began with came back in the same status without a look in between, the episode ended at an unknown time,
 * and does not count.
 */
export function nextEpisodes(
  node: Pick<NodeView, 'conditions'>,
  settings: RepairSettings,
  before: readonly Episode[],
  now: EpochMs,
): readonly Episode[] {
  const rule = settings.flapping;
  if (rule === undefined) return [];
  const matches = matchStatements(node, statementsOf(settings));
  const since = unhealthySince(matches);
  const closed = before.map((episode): Episode => {
    const { startTime, endTime } = episode;
    if (endTime !== undefined || (since !== undefined && since <= startTime)) return episode;
    return { startTime, endTime: endOf(node, episode, { since, now }) };
  });
  const isOpen = closed.some(({ endTime }) => endTime === undefined);
  const opened: readonly Episode[] =
    since === undefined || isOpen ? closed : [...closed, { startTime: since, began: begun(matches, since) }];
  return opened
    .filter(
      ({ startTime, endTime }) =>
        endTime === undefined || (endTime > startTime && !isDue(now, addDuration(endTime, rule.window))),
    )
    .slice(-MAX_EPISODES);
}

const begun = (matches: readonly UnhealthyMatch[], since: EpochMs): Episode['began'] =>
  matches
    .filter(({ condition }) => condition.lastTransitionTime === since)
    .map(({ condition: { type, status } }) => ({ type, status }));

/** When the last of the conditions that it began with ended; its own beginning where nobody knows. */
function endOf(
  { conditions }: Pick<NodeView, 'conditions'>,
  { startTime, began }: Episode,
  { since, now }: { readonly since: EpochMs | undefined; readonly now: EpochMs },
): EpochMs {
  const ends = (began ?? []).map(({ type, status }): EpochMs => {
    const condition = conditions.find(each => each.type === type);
    const time = condition?.lastTransitionTime ?? startTime;
    if (condition !== undefined && condition.status !== status) return time;
    // Taken away, or not counted any more without a transition of its own: until that is seen.
    return time === startTime ? now : startTime;
  });
  const end = ends.reduce((last, time) => (time > last ? time : last), startTime);
  return since !== undefined && since < end ? since : end;
}
