/**
 * The actions of `repair.actions`, and whose turn it is at a node: of the list the first one that was not taken in this illness and has an
 * allowance left. Taken is what was accepted; nothing else is remembered of places, so that no veto, edit or crash repeats an act. Pure.
 */
import { isJsonObject, readJson } from '../../../shared/domain/json.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import {
  actionListsOf,
  DEFAULT_ACTIONS,
  type DrainBound,
  type RepairAction,
  type RepairSettings,
} from '../../../shared/domain/repair-policy.ts';
import { nextTry, type Refusal, type Refusals } from '../../../shared/domain/refusal.ts';
import {
  addDuration,
  earliest,
  hours,
  isDue,
  latest,
  minutes,
  parseTimestamp,
  seconds,
  toDurationMs,
  toIsoText,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { GOES_ON_WITHIN } from './illness.ts';
import type { Act, Attempt, NodeRecord, RungType } from './record.ts';

/** An action of the ladder with its time; `DrainThenTerminate` is two. */
export interface Rung extends Omit<RepairAction, 'type'> {
  readonly type: RungType;
  /** It is the second half of that action. */
  readonly key?: string | undefined;
}

/** In their order; a reboot whose pods have time is a drain before. @param own the NodeClaim's terminationGracePeriod */
export function rungsOf(
  {
    actions = DEFAULT_ACTIONS,
    drainBound,
  }: { readonly actions?: readonly RepairAction[] | undefined; readonly drainBound?: DrainBound | undefined },
  own?: DurationMs,
): readonly Rung[] {
  return actions.flatMap((action: RepairAction): Rung[] => {
    const { type, ...rest } = action;
    if (type === 'ReplaceThenTerminate') return [{ ...rest, type: 'Replace' }];
    if (type === 'Reboot') {
      const bound = drainBound === 'Inherit' ? (own ?? rest.timeout) : (drainBound ?? NO_TIME);
      const timeout = toDurationMs(Math.min(bound, own ?? bound));
      const drain: Rung = { ...rest, type: 'Drain', timeout, key: `${DRAIN_BEFORE_REBOOT}|${rest.timeout}` };
      return [...(timeout > 0 ? [drain] : []), { ...rest, type }];
    }
    if (type !== 'DrainThenTerminate') return [{ ...rest, type }];
    return [
      { ...rest, type: 'Drain' },
      { ...rest, type: 'Terminate', timeout: STUCK_AFTER },
    ];
  });
}

const NO_TIME = minutes(0);
const DRAIN_BEFORE_REBOOT = 'Drain before Reboot|';

/** Whether the drain is the first half of a reboot. */
export const isBeforeReboot = ({ key }: Pick<Attempt, 'key'>): boolean => key.startsWith(DRAIN_BEFORE_REBOOT);

/** Those of every entry. */
export const allRungsOf = (settings: RepairSettings): readonly Rung[] =>
  actionListsOf(settings).flatMap(actions => rungsOf({ actions }));

/** A termination that is not over after this long is stuck, where its action says nothing else. */
const STUCK_AFTER = hours(1);

/** What makes an action the same. */
export const keyOf = ({
  type,
  template = '',
  timeout,
  key,
}: Pick<Rung, 'type' | 'template' | 'timeout' | 'key'>): string => key ?? `${type}|${template}|${timeout}`;

/** What follows once a replacement is ready; undefined: the list has no such action any more. */
export function terminationAfter(key: string, rungs: readonly Rung[]): Rung | undefined {
  const rung = rungs.find(each => keyOf(each) === key);
  return rung && { ...rung, type: 'Terminate', timeout: STUCK_AFTER, key };
}

/** What counts against one allowance, whatever the time that it was given. */
const kindOf = (key: string): string => key.slice(0, key.lastIndexOf('|'));

/** On the Node, so that it outlives the table: the last reboot of ours. */
export const LAST_REBOOT_ANNOTATION = 'curfew.dev/last-reboot';

interface LastReboot {
  readonly time: EpochMs;
  /** How many there were, this one among them. */
  readonly count: number;
  readonly bootID: string | undefined;
}

/** What stands in the annotation. */
export const lastRebootText = (acts: readonly Act[], now: EpochMs, bootID: string | undefined): string =>
  JSON.stringify({
    time: toIsoText(now),
    ...(bootID !== undefined && { bootID }),
    count: acts.filter(({ action }) => action === 'Reboot').length + 1,
  });

/** More than an allowance can name forbid no more. */
const MAX_COUNT = 20;

/** undefined: there was none, or somebody changed the value so that it does not say when. Then it forbids nothing. Never throws. */
export function readLastReboot({ annotations }: Pick<NodeView, 'annotations'>): LastReboot | undefined {
  const read = readJson(annotations[LAST_REBOOT_ANNOTATION]);
  if (!isJsonObject(read)) return undefined;
  const { time: said, count, bootID } = read;
  const time = typeof said === 'string' ? parseTimestamp(said) : undefined;
  if (time === undefined) return undefined;
  const isCount = typeof count === 'number' && Number.isInteger(count);
  return {
    time,
    // It says when there was one, so there was one at least.
    count: isCount ? Math.min(Math.max(count, 1), MAX_COUNT) : 1,
    bootID: typeof bootID === 'string' ? bootID : undefined,
  };
}

/** What stands on a Node of which the table has nothing: it can only forbid. */
export function actsOf(node: Pick<NodeView, 'annotations'>): readonly Act[] {
  const read = readLastReboot(node);
  if (read === undefined) return [];
  const { time, count, bootID } = read;
  const reboot: Act = { key: 'Reboot||0', action: 'Reboot', time, ...(bootID !== undefined && { bootID }) };
  return Array.from({ length: count }, () => reboot);
}

/** When the action may be taken again; undefined: now. */
function allowanceReturns(rung: Rung, acts: readonly Act[], now: EpochMs): EpochMs | undefined {
  if (rung.type === 'Terminate') return undefined;
  const kind = kindOf(keyOf(rung));
  // A drain that no reboot may follow is none.
  const kinds = kind === DRAIN_BEFORE_REBOOT ? [kind, 'Reboot|'] : [kind];
  const times = kinds.flatMap(each => {
    const counted = acts
      .filter(({ key, time }) => kindOf(key) === each && !isDue(now, addDuration(time, rung.within)))
      .toSorted((a, b) => a.time - b.time);
    const first = counted.at(-rung.attempts);
    return first === undefined ? [] : addDuration(first.time, rung.within);
  });
  return times.reduce<EpochMs | undefined>((last, time) => (last === undefined ? time : latest(last, time)), undefined);
}

/** Actions that count as taken at the begin of an illness of this type: those before the last one, where it goes on within a day. */
export function takenBefore(
  { before, acts }: Pick<NodeRecord, 'before' | 'acts'>,
  type: string,
  rungs: readonly Rung[],
  now: EpochMs,
): readonly string[] {
  const last = before?.key;
  if (before?.type !== type || last === undefined || isDue(now, addDuration(before.time, GOES_ON_WITHIN))) return [];
  const index = rungs.findIndex(rung => keyOf(rung) === last);
  const rung = rungs[index];
  if (rung === undefined) return [];
  const isLeft = rung.type === 'Terminate' || allowanceReturns(rung, acts, now) === undefined;
  const previous = rungs[index - 1];
  const first = previous !== undefined && isBeforeReboot({ key: keyOf(previous) }) ? index - 1 : index;
  return rungs.slice(0, isLeft ? first : index + 1).map(keyOf);
}

export type NextAction =
  | { readonly kind: 'next'; readonly rung: Rung }
  /** All that is left was refused, and is tried again then. */
  | { readonly kind: 'refused'; readonly until: EpochMs; readonly message: string }
  /** All that is left is to launch a replacement, which the pool does again then. */
  | { readonly kind: 'unavailable'; readonly until: EpochMs }
  /** Nothing is left. @param until an allowance returns */
  | { readonly kind: 'exhausted'; readonly until: EpochMs | undefined };

interface LadderState {
  readonly rungs: readonly Rung[];
  readonly taken: readonly string[];
  readonly acts: readonly Act[];
  readonly refusals: Refusals | undefined;
  /** Of what a try rests on: a refusal of another basis is over. */
  readonly basis: string;
  /** Replacements that did not become ready in this illness. */
  readonly passed?: readonly string[] | undefined;
  /** When the pool launches replacements again; undefined: now. */
  readonly launchesFrom?: EpochMs | undefined;
  /** Without one there is nothing to replace. */
  readonly hasClaim?: boolean;
}

/** Whose turn it is. */
export function turnOf(state: LadderState, now: EpochMs): NextAction {
  const { rungs, taken, acts, refusals = {}, basis, passed = [], launchesFrom, hasClaim = true } = state;
  const mayLaunch = launchesFrom === undefined || isDue(now, launchesFrom);
  let launch: Rung | undefined;
  let returns: EpochMs | undefined;
  let again: { readonly until: EpochMs; readonly message: string } | undefined;
  let isUndrained = false;
  for (const rung of rungs) {
    const key = keyOf(rung);
    const isReboot = rung.type === 'Reboot' && isUndrained;
    isUndrained = false;
    // Pods that have time are not rebooted without it.
    if (taken.includes(key) || isReboot) continue;
    const allowed = allowanceReturns(rung, acts, now);
    if (allowed !== undefined) {
      returns = earliest(returns, allowed);
      isUndrained = isBeforeReboot({ key });
      continue;
    }
    if (rung.type === 'Replace' && !hasClaim) continue;
    if (rung.type === 'Replace' && (passed.includes(key) || !mayLaunch)) {
      launch ??= rung;
      continue;
    }
    const refusal = refusals[key];
    const until = refusal?.basis === basis ? tryTime(refusal, rung) : undefined;
    if (refusal === undefined || until === undefined || isDue(now, until)) return { kind: 'next', rung };
    // It may pass: it keeps its turn.
    if (mayPass(refusal, rung)) return { kind: 'refused', until, message: refusal.message };
    if (again === undefined || until < again.until) again = { until, message: refusal?.message ?? '' };
  }
  if (again === undefined && launch !== undefined)
    return mayLaunch ? { kind: 'next', rung: launch } : { kind: 'unavailable', until: launchesFrom };
  return again === undefined ? { kind: 'exhausted', until: returns } : { kind: 'refused', ...again };
}

const PASSES_WITHIN = minutes(5);
const RESOURCE_CHECK = seconds(30);

/** What passes by itself is waited for: five minutes; a custom resource that cannot be made yet, as long as its action has. */
const passesBy = ({ firstTime }: Refusal, { type, timeout }: Rung): EpochMs =>
  addDuration(firstTime, type === 'CustomResource' ? timeout : PASSES_WITHIN);

export const mayPass = (refusal: Refusal, rung: Rung): boolean =>
  refusal.cause === 'passing' && refusal.lastTime < passesBy(refusal, rung);

/** What may pass is tried again after 5 s, 10 s, 20 s …; what is refused, ever less often. */
function tryTime(refusal: Refusal, rung: Rung): EpochMs {
  if (!mayPass(refusal, rung)) return nextTry(refusal);
  const delay =
    rung.type === 'CustomResource' ? RESOURCE_CHECK : seconds(Math.min(5 * 2 ** Math.min(refusal.count - 1, 10), 60));
  const next = addDuration(refusal.lastTime, delay);
  const last = passesBy(refusal, rung);
  return next < last ? next : last;
}

/** Until when a refused act waits; undefined: it may be tried. */
export function refusedUntil(
  { refusals, basis }: { readonly refusals: Refusals | undefined; readonly basis: string },
  key: string,
  rung: Rung,
  now: EpochMs,
): EpochMs | undefined {
  const refusal = refusals?.[key];
  const until = refusal?.basis === basis ? tryTime(refusal, rung) : undefined;
  return until === undefined || isDue(now, until) ? undefined : until;
}

/** An act that leaves the node in its place, so that it can get well. */
export const isInPlace = ({ action }: Pick<Attempt, 'action'>): boolean => action !== 'Terminate';

/** Whether an accepted act still has time. */
export const hasTime = ({ until, answer }: Attempt, now: EpochMs): boolean =>
  answer === undefined && !isDue(now, until);

/** The machine was asked to reboot and has not yet: its condition may still say what it said before. */
export const awaitsReboot = (attempt: Attempt, node: Pick<NodeView, 'bootID'>, now: EpochMs): boolean =>
  attempt.action === 'Reboot' &&
  attempt.bootID !== undefined &&
  node.bootID === attempt.bootID &&
  hasTime(attempt, now);

/** The acts with one more; those that no allowance counts any more are dropped. */
export function withAct(record: NodeRecord, act: Act, rungs: readonly Rung[]): readonly Act[] {
  const longest = rungs.reduce((most, { within }) => Math.max(most, within), GOES_ON_WITHIN as number);
  return [...record.acts, act].filter(({ time }) => time + longest > act.time).slice(-MAX_ACTS);
}

/** No more than so many are remembered: as many as an allowance can name. */
const MAX_ACTS = 60;
