/**
 * Picks the next action of a due node's ladder: the first one that was not taken in this incident and has an allowance
 * left. An action is taken once it was accepted. The record keeps no other position in the ladder, so that no veto and no
 * crash repeats an act. Pure.
 */
import { GOES_ON_WITHIN } from './incident.ts';
import { isForReboot, keyOf, kindOf } from './ladder.ts';
import type { LadderAction } from './verdict.ts';
import type { Act, NodeRecord } from '../record.ts';
import {
  isTransient,
  nextTry,
  type Refusal,
  type Refusals,
  TRANSIENT_FAILURE,
} from '../../../../shared/domain/refusal.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  isDue,
  latest,
  parseTimestamp,
  retryWait,
  seconds,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** Whether the act counts against the allowance of an action that may be taken now. */
export const isWithin = ({ time }: Act, { within }: LadderAction, now: EpochMs): boolean =>
  !isDue(now, addDuration(time, within));

/** The time at which the action may be taken again; undefined: now. */
function allowanceReturns(action: LadderAction, acts: readonly Act[], now: EpochMs): EpochMs | undefined {
  if (action.type === 'Terminate') return undefined;
  // A drain before a reboot has no use once no reboot may follow.
  const kinds = [action, ...(isForReboot(action) ? [action.reboot] : [])].map(each => kindOf(keyOf(each)));
  const times = kinds.flatMap(each => {
    const counted = acts
      .filter(act => kindOf(act.key) === each && isWithin(act, action, now))
      .toSorted((a, b) => a.time - b.time);
    const first = counted.at(-action.attempts);
    return first === undefined ? [] : addDuration(first.time, action.within);
  });
  return times.length === 0 ? undefined : times.reduce(latest);
}

/**
 * Actions that count as taken when an incident begins. If the last incident was of the same condition type and is less
 * than a day old, the ladder resumes at its last action. That is passed over while it has no attempt left.
 */
export function actionsTakenBefore(
  { lastIncident: last }: Pick<NodeRecord, 'lastIncident'>,
  type: string,
  ladder: readonly LadderAction[],
  now: EpochMs,
): readonly string[] {
  if (last?.type !== type || last.key === undefined || isDue(now, addDuration(last.time, GOES_ON_WITHIN))) return [];
  const index = ladder.findIndex(action => keyOf(action) === last.key);
  if (index < 0) return [];
  const previous = ladder[index - 1];
  const first = previous !== undefined && isForReboot(previous) ? index - 1 : index;
  return ladder.slice(0, first).map(keyOf);
}

/**
 * The first time at which an action that counts as taken since an earlier incident may be taken again: it needs an
 * attempt, and that incident to be a day old.
 */
export function earlierTakenReturns(
  { lastIncident, acts }: Pick<NodeRecord, 'lastIncident' | 'acts'>,
  taken: readonly string[],
  ladder: readonly LadderAction[],
  now: EpochMs,
): EpochMs | undefined {
  const over = lastIncident === undefined ? now : addDuration(lastIncident.time, GOES_ON_WITHIN);
  const times = ladder
    .filter(action => taken.includes(keyOf(action)))
    .map(action => latest(allowanceReturns(action, acts, now) ?? now, over));
  return times.reduce<EpochMs | undefined>(earliest, undefined);
}

export type NextAction<Action extends LadderAction> =
  | { readonly kind: 'next'; readonly action: Action }
  /** All actions that are left were refused. @property until time of the next try */
  | { readonly kind: 'refused'; readonly until: EpochMs; readonly message: string }
  /** Only the launch of a replacement is left. @property until time of the next launch */
  | { readonly kind: 'unavailable'; readonly until: EpochMs }
  /** No action is left. @property until time at which an allowance returns */
  | { readonly kind: 'exhausted'; readonly until: EpochMs | undefined };

interface LadderState<Action extends LadderAction> {
  readonly ladder: readonly Action[];
  readonly taken: readonly string[];
  readonly acts: readonly Act[];
  readonly refusals: Refusals | undefined;
  /** Hash of the settings and NodeClaim fields. A refusal with another hash no longer counts. */
  readonly basis: string;
  /** Keys of the actions whose replacement did not become ready in this incident. */
  readonly skippedLaunches?: readonly string[] | undefined;
  /** Time from which the pool launches replacements again; undefined: now. */
  readonly launchesFrom?: EpochMs | undefined;
}

/** Picks the action that is next, or says why there is none. */
export function nextAction<Action extends LadderAction>(state: LadderState<Action>, now: EpochMs): NextAction<Action> {
  const { ladder, taken, launchesFrom } = state;
  let launch: Action | undefined;
  let returns: EpochMs | undefined;
  let soonestRetry: { readonly until: EpochMs; readonly message: string } | undefined;
  let isUndrained = false;
  for (const action of ladder) {
    const key = keyOf(action);
    const isReboot = action.type === 'Reboot' && isUndrained;
    isUndrained = false;
    // Without an attempt for the drain, skip its reboot: pods would get no time to leave.
    if (taken.includes(key) || isReboot) continue;
    const chance = chanceOf(state, action, now);
    switch (chance.kind) {
      case 'now':
        return { kind: 'next', action };
      case 'returns':
        returns = earliest(returns, chance.until);
        isUndrained = isForReboot(action);
        break;
      case 'lastResort':
        launch ??= action;
        break;
      case 'refused': {
        const { until, refusal } = chance;
        // A refusal that may pass keeps its turn.
        if (isWaitedFor(refusal, action)) return { kind: 'refused', until, message: refusal.message };
        if (soonestRetry === undefined || until < soonestRetry.until)
          soonestRetry = { until, message: refusal.message };
      }
    }
  }
  if (soonestRetry !== undefined) return { kind: 'refused', ...soonestRetry };
  if (launch === undefined) return { kind: 'exhausted', until: returns };
  const isPaused = launchesFrom !== undefined && !isDue(now, launchesFrom);
  return isPaused ? { kind: 'unavailable', until: launchesFrom } : { kind: 'next', action: launch };
}

/** Whether an action that was not taken in this incident may be taken. */
type Chance =
  | { readonly kind: 'now' }
  /** No attempt is left until then. */
  | { readonly kind: 'returns'; readonly until: EpochMs }
  /** A launch that another action goes before: it failed in this incident, or the pool launches nothing now. */
  | { readonly kind: 'lastResort' }
  | { readonly kind: 'refused'; readonly until: EpochMs; readonly refusal: Refusal };

function chanceOf(state: LadderState<LadderAction>, action: LadderAction, now: EpochMs): Chance {
  const { acts, skippedLaunches = [], launchesFrom } = state;
  const returnTime = allowanceReturns(action, acts, now);
  if (returnTime !== undefined) return { kind: 'returns', until: returnTime };
  const isPaused = launchesFrom !== undefined && !isDue(now, launchesFrom);
  if (action.type === 'Replace' && (isPaused || skippedLaunches.includes(keyOf(action)))) return { kind: 'lastResort' };
  const refused = refusedUntil(state, action, now);
  return refused === undefined ? { kind: 'now' } : { kind: 'refused', ...refused };
}

const RESOURCE_CHECK = seconds(30);

/**
 * The longest wait for a refusal that may pass: five minutes, or the timeout of a custom resource that cannot be made
 * yet.
 */
export const longestWait = ({ type, timeout }: LadderAction): DurationMs =>
  type === 'CustomResource' ? timeout : TRANSIENT_FAILURE;

/** Whether the action keeps its turn until the refusal passes, instead of leaving it to the next one. */
export const isWaitedFor = (refusal: Refusal, action: LadderAction): boolean =>
  isTransient(refusal, longestWait(action));

/**
 * The time of the next try. A refusal that may pass is tried again after 5 s, 10 s, 20 s …, any other ever less often.
 */
function tryTime(refusal: Refusal, action: LadderAction): EpochMs {
  if (!isWaitedFor(refusal, action)) return nextTry(refusal);
  const delay = action.type === 'CustomResource' ? RESOURCE_CHECK : retryWait(refusal.count);
  return earliest(addDuration(refusal.lastTime, delay), addDuration(refusal.firstTime, longestWait(action)));
}

/** The time until which a refused act waits, with its refusal; undefined: it may be tried now. */
export function refusedUntil(
  { refusals = {}, basis }: Pick<LadderState<LadderAction>, 'refusals' | 'basis'>,
  action: LadderAction,
  now: EpochMs,
): { readonly until: EpochMs; readonly refusal: Refusal } | undefined {
  const refusal = refusals[keyOf(action)];
  if (refusal?.basis !== basis) return undefined;
  const until = tryTime(refusal, action);
  return isDue(now, until) ? undefined : { until, refusal };
}

export const retryText = (until: EpochMs): string => `it is tried again at ${toTimestamp(until)}`;

/**
 * Rewords the end of a message (`retryText`) if the time that it names is over at `now`. Later tries are not reported, so
 * the message keeps the time of an earlier one.
 */
export function withPastTense(message: string, now: EpochMs): string {
  return message.replace(/ it is tried again at (\S+)$/, (text, time: string) => {
    const next = parseTimestamp(time);
    return next !== undefined && isDue(now, next) ? ` it was to be tried again at ${time}` : text;
  });
}
