/**
 * Picks the next action of the ladder: the first that was not taken in this incident and has an allowance left. An
 * action is taken once it was accepted. The record keeps no other position in the ladder, so that no veto and no crash
 * repeats an act. Pure.
 */
import type { Act, NodeRecord } from '../node-record.ts';
import { GOES_ON_WITHIN } from './incident.ts';
import { DRAIN_BEFORE_REBOOT, isBeforeReboot, keyOf } from './ladder.ts';
import type { LadderAction } from './verdict.ts';
import {
  isTransient,
  nextTry,
  type Refusal,
  type Refusals,
  TRANSIENT_FAILURE,
} from '../../../shared/domain/refusal.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  isDue,
  latest,
  retryWait,
  seconds,
} from '../../../shared/domain/time.ts';

/** Acts of one kind count against one allowance, whatever their timeout. */
const kindOf = (key: string): string => key.slice(0, key.lastIndexOf('|'));

/** The time at which the action may be taken again; undefined: now. */
function allowanceReturns(action: LadderAction, acts: readonly Act[], now: EpochMs): EpochMs | undefined {
  if (action.type === 'Terminate') return undefined;
  const kind = kindOf(keyOf(action));
  // A drain before a reboot has no use once no reboot may follow.
  const kinds = kind === DRAIN_BEFORE_REBOOT ? [kind, 'Reboot|'] : [kind];
  const times = kinds.flatMap(each => {
    const counted = acts
      .filter(({ key, time }) => kindOf(key) === each && !isDue(now, addDuration(time, action.within)))
      .toSorted((a, b) => a.time - b.time);
    const first = counted.at(-action.attempts);
    return first === undefined ? [] : addDuration(first.time, action.within);
  });
  return times.length === 0 ? undefined : times.reduce(latest);
}

/**
 * Actions that count as taken when an incident begins. If the last incident was of the same condition type and is less
 * than a day old, the ladder resumes at its last action, or after it while that action has no attempt left.
 */
export function takenBefore(
  { lastIncident: last, acts }: Pick<NodeRecord, 'lastIncident' | 'acts'>,
  type: string,
  ladder: readonly LadderAction[],
  now: EpochMs,
): readonly string[] {
  if (last?.type !== type || last.key === undefined || isDue(now, addDuration(last.time, GOES_ON_WITHIN))) return [];
  const index = ladder.findIndex(action => keyOf(action) === last.key);
  const action = ladder[index];
  if (action === undefined) return [];
  const mayRepeat = action.type === 'Terminate' || allowanceReturns(action, acts, now) === undefined;
  const previous = ladder[index - 1];
  const first = previous !== undefined && isBeforeReboot({ key: keyOf(previous) }) ? index - 1 : index;
  return ladder.slice(0, mayRepeat ? first : index + 1).map(keyOf);
}

/**
 * The first time at which an action that counts as taken since an earlier incident may be taken again. The last action
 * returns with its allowance. Earlier ones also need that incident to be a day old.
 */
export function carriedReturns(
  { lastIncident, acts }: Pick<NodeRecord, 'lastIncident' | 'acts'>,
  taken: readonly string[],
  ladder: readonly LadderAction[],
  now: EpochMs,
): EpochMs | undefined {
  const over = lastIncident === undefined ? now : addDuration(lastIncident.time, GOES_ON_WITHIN);
  const times = ladder
    .filter(action => taken.includes(keyOf(action)))
    .map(action => {
      const allowed = allowanceReturns(action, acts, now) ?? now;
      return keyOf(action) === taken.at(-1) ? allowed : latest(allowed, over);
    });
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
  readonly skipped?: readonly string[] | undefined;
  /** Time from which the pool launches replacements again; undefined: now. */
  readonly launchesFrom?: EpochMs | undefined;
}

/** Picks the action that is next, or says why there is none. */
export function nextAction<Action extends LadderAction>(state: LadderState<Action>, now: EpochMs): NextAction<Action> {
  const { ladder, taken, acts, skipped = [], launchesFrom } = state;
  const mayLaunch = launchesFrom === undefined || isDue(now, launchesFrom);
  let launch: Action | undefined;
  let returns: EpochMs | undefined;
  let again: { readonly until: EpochMs; readonly message: string } | undefined;
  let isUndrained = false;
  for (const action of ladder) {
    const key = keyOf(action);
    const isReboot = action.type === 'Reboot' && isUndrained;
    isUndrained = false;
    // Without an attempt for the drain, skip its reboot: pods would get no time to leave.
    if (taken.includes(key) || isReboot) continue;
    const allowed = allowanceReturns(action, acts, now);
    if (allowed !== undefined) {
      returns = earliest(returns, allowed);
      isUndrained = isBeforeReboot({ key });
      continue;
    }
    if (action.type === 'Replace' && (skipped.includes(key) || !mayLaunch)) {
      launch ??= action;
      continue;
    }
    const waits = refusedUntil(state, action, now);
    if (waits === undefined) return { kind: 'next', action };
    const { until, refusal } = waits;
    // A refusal that may pass keeps its turn.
    if (isWaitedFor(refusal, action)) return { kind: 'refused', until, message: refusal.message };
    if (again === undefined || until < again.until) again = { until, message: refusal.message };
  }
  if (again === undefined && launch !== undefined)
    return mayLaunch ? { kind: 'next', action: launch } : { kind: 'unavailable', until: launchesFrom };
  return again === undefined ? { kind: 'exhausted', until: returns } : { kind: 'refused', ...again };
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
