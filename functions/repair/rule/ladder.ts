/**
 * The actions of `repair.actions`, and which one is next at a node: the first of the list that was not taken in this
 * incident and has an allowance left. An action is taken once it was accepted. The record keeps nothing else of the
 * place in the list, so no veto and no crash repeats an act. An action whose type, template or timeout was edited is a
 * new one. Pure.
 */
import { answerOf, hasTime } from './act-under-way.ts';
import { GOES_ON_WITHIN } from './incident.ts';
import { judgeUndue } from './undue-node.ts';
import type { Attempt } from '../attempt-record.ts';
import type { Act, NodeRecord } from '../record.ts';
import {
  BLOCKED_CHECK,
  type DueNode,
  type DueAction,
  type EntryPolicy,
  type Finding,
  type NodeFacts,
  type LadderAction,
  type NodeFinding,
  type PossibleAction,
  type VerdictTrait,
  VERDICT_TRAITS,
  type Verdict,
} from './verdict.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { deadlineBy, endsBy, NODE_POOL_LABEL, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import {
  isTransient,
  nextTry,
  TRANSIENT_FAILURE,
  type Refusal,
  type Refusals,
} from '../../../shared/domain/refusal.ts';
import {
  actionListsOf,
  DEFAULT_ACTIONS,
  type DrainBound,
  type RepairAction,
  type RepairSettings,
} from '../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  latest,
  minutes,
  retryWait,
  seconds,
  toDurationMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** No message says that others have ended their work. */
const OTHERS_CHECK = minutes(1);

/**
 * Judges a node at which nothing is under way, by its own state and by the ladder.
 * @param unfinished an attempt that another run did not carry out
 */
export function judgeByLadder(facts: NodeFacts, unfinished?: Attempt): Finding {
  const { decision, node, record, isOn } = facts;
  const { now } = facts.context;
  switch (decision.kind) {
    case 'ignore':
    case 'refuse': {
      const undue = judgeUndue(facts, decision);
      // While repair is off, what an attempt has set is taken back at once.
      const hasMarks = !isOn && (record.ours?.annotation !== undefined || record.ours?.drain !== undefined);
      return found(undue.record, undue.verdict, undue.time, { takesBack: undue.takesBack || hasMarks });
    }
    case 'tolerate':
      return found(record, { ...decision, node }, decision.dueCondition.dueTime);
    case 'unclaimed':
    case 'blocked':
    case 'vetoed':
    case 'finishing': {
      const isOthers = decision.kind === 'blocked' && decision.reason === 'BeingDisrupted';
      const check = addDuration(now, isOthers ? OTHERS_CHECK : BLOCKED_CHECK);
      const ends = decision.kind === 'vetoed' ? decision.veto.until : undefined;
      return found(record, { ...decision, node }, earliest(ends, check));
    }
    case 'due':
      return judgeDue(facts, decision, unfinished);
  }
}

/** Which action of its ladder a due node gets. */
function judgeDue({ node, record, context }: NodeFacts, decision: DueNode, unfinished: Attempt | undefined): Finding {
  const { now, launchPause } = context;
  const { dueCondition, ladder, claim } = decision;
  const { incident, acts, refusals } = record;
  const taken = incident?.taken ?? takenBefore(record, dueCondition.conditionType, ladder, now);
  const { skipped } = incident ?? {};
  const basis = context.basisOf(claim);
  const requested = ladder.findIndex(each => keyOf(each) === record.ours?.requested?.key);
  const left = ladder.slice(Math.max(0, requested));
  const launchesFrom = launchPause?.until;
  const next = nextAction({ ladder: left, taken, acts, refusals, basis, skipped, launchesFrom }, now);
  switch (next.kind) {
    case 'next': {
      const { action } = next;
      if (action.type === 'Terminate' && claim !== undefined && endsAnyway(claim, decision.entryPolicy, now)) {
        const message = `NodeClaim ${claim.name} is being deleted already, and a repair would not end it sooner`;
        const verdict = { kind: 'finishing', node, dueCondition, message } as const;
        return found(record, verdict, addDuration(now, BLOCKED_CHECK));
      }
      const laterActions = ladder.slice(ladder.indexOf(action) + 1).filter(each => !taken.includes(keyOf(each)));
      const same = unfinished?.key === keyOf(action) ? unfinished : undefined;
      const begun = { ...record, incident: { ...incident, type: dueCondition.conditionType, taken: [...taken] } };
      return found(begun, { kind: 'due', due: decision, action, laterActions, unfinished: same });
    }
    case 'refused': {
      const message = `${decision.message}; refused: ${next.message}; ${againAt(next.until)}`;
      return found(record, { kind: 'retry', node, message }, next.until);
    }
    case 'unavailable': {
      const message = `${decision.message}; no replacement can be launched: ${againAt(next.until)}`;
      const verdict = { kind: 'blocked', node, reason: 'ReplacementUnavailable', dueCondition, message } as const;
      return found(record, verdict, next.until);
    }
    case 'exhausted': {
      const carried = incident === undefined ? carriedReturns(record, taken, ladder, now) : undefined;
      const returnTime = earliest(next.until, carried);
      const returns = returnTime === undefined ? '' : `; an allowance returns at ${toTimestamp(returnTime)}`;
      const list = ladder.map(({ type, timeout }) => `${type} ${formatDuration(timeout)}`).join(', ');
      const over = `every action of repair.actions (${list}) was taken or has no attempt left, no further action is set${returns}`;
      const message = list === '' ? 'without a NodeClaim of a NodePool there is nothing to replace' : over;
      const time = earliest(returnTime, addDuration(now, BLOCKED_CHECK));
      return found(record, { kind: 'exhausted', node, message }, time);
    }
  }
}

export const againAt = (until: EpochMs): string => `it is tried again at ${toTimestamp(until)}`;

/** Whether the NodeClaim is being deleted, and no deadline of a repair would bring its end forward. */
function endsAnyway(claim: NodeClaimView, { drainBound }: Pick<EntryPolicy, 'drainBound'>, now: EpochMs): boolean {
  if (claim.deletionTime === undefined) return false;
  const deadline = deadlineBy(claim, drainBound, now);
  return deadline === undefined || endsBy(claim, deadline);
}

/** The action that the node is due for, before the pool has decided. */
export const dueOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): DueAction | undefined =>
  verdict?.kind === 'due' ? verdict : undefined;

/** Whether the verdict, or the due action, has the trait. */
export const hasTrait = (verdict: NodeFinding['verdict'], trait: VerdictTrait): boolean =>
  verdict !== undefined && VERDICT_TRAITS[verdict.kind].includes(trait);

/** What is found of a node by what is said of it. @param more what its attempt and its marks add to that */
export function found(
  record: Finding['record'],
  verdict: Finding['verdict'],
  time?: Finding['time'],
  more?: Partial<Pick<Finding, 'state' | 'takesBack' | 'news'>>,
): Finding {
  const state = (['inFlight', 'followed'] as const).find(each => hasTrait(verdict, each)) ?? 'idle';
  const takesBack = hasTrait(verdict, 'takesBack');
  return { record, verdict, time, state, takesBack, news: [], ...more };
}

/** What is decided of the node. */
export const verdictOf = ({ verdict }: Pick<NodeFinding, 'verdict'>): Verdict | undefined =>
  verdict?.kind === 'due' ? undefined : verdict;

/**
 * The actions in their order. A reboot whose pods have time becomes a drain and the reboot.
 * @param own the NodeClaim's terminationGracePeriod
 */
export function ladderOf(
  {
    actions = DEFAULT_ACTIONS,
    drainBound,
  }: { readonly actions?: readonly RepairAction[] | undefined; readonly drainBound?: DrainBound | undefined },
  own?: DurationMs,
): readonly LadderAction[] {
  return actions.flatMap((action: RepairAction): LadderAction[] => {
    const { type, ...rest } = action;
    if (type === 'ReplaceThenTerminate') return [{ ...rest, type: 'Replace' }];
    if (type === 'Reboot') {
      const bound = drainBound === 'Inherit' ? (own ?? rest.timeout) : (drainBound ?? NO_TIME);
      const timeout = toDurationMs(Math.min(bound, own ?? bound));
      const drain: LadderAction = { ...rest, type: 'Drain', timeout, key: `${DRAIN_BEFORE_REBOOT}|${rest.timeout}` };
      return [...(timeout > 0 ? [drain] : []), { ...rest, type }];
    }
    if (type !== 'DrainThenTerminate') return [{ ...rest, type }];
    return [
      { ...rest, type: 'Drain' },
      { ...rest, type: 'Terminate', timeout: STUCK_AFTER },
    ];
  });
}

/** What of a ladder may be done at a node: without a NodeClaim of a NodePool there is nothing to replace. */
export function possibleOf(ladder: readonly LadderAction[], claim?: NodeClaimView): readonly PossibleAction[] {
  const pool = claim?.labels[NODE_POOL_LABEL];
  const launch = claim && pool !== undefined ? { claim: { name: claim.name, uid: claim.uid }, pool } : undefined;
  return ladder.flatMap((action): PossibleAction[] => {
    const { type } = action;
    if (type !== 'Replace') return [{ ...action, type }];
    return launch ? [{ ...action, type, launch }] : [];
  });
}

const NO_TIME = minutes(0);

const DRAIN_BEFORE_REBOOT = 'Drain before Reboot|';

/** Whether the drain is the first half of a reboot. */
export const isBeforeReboot = ({ key }: Pick<Attempt, 'key'>): boolean => key.startsWith(DRAIN_BEFORE_REBOOT);

/** Whether the node is maintained for a reboot: for its drain, too, and until its time is over. */
export const isRebootUnderWay = (attempt: Attempt | undefined, now: EpochMs): boolean =>
  attempt !== undefined &&
  ((isBeforeReboot(attempt) && answerOf(attempt)?.kind !== 'stopped') ||
    (attempt.action === 'Reboot' && (attempt.phase === 'intended' || hasTime(attempt, now))));

/** A reboot was refused, and is tried again: its maintenance stays. */
export const isRebootTried = (refusals: NodeRecord['refusals'] = {}): boolean =>
  Object.keys(refusals).some(key => key.startsWith('Reboot|') || isBeforeReboot({ key }));

/** The actions of every entry. */
export const allActionsOf = (settings: RepairSettings): readonly LadderAction[] =>
  actionListsOf(settings).flatMap(actions => ladderOf({ actions }));

/** A termination is stuck after this long, unless its action states a timeout. */
const STUCK_AFTER = hours(1);

/** Two actions with one key are the same action. */
export const keyOf = ({
  type,
  template = '',
  timeout,
  key,
}: Pick<LadderAction, 'type' | 'template' | 'timeout' | 'key'>): string => key ?? `${type}|${template}|${timeout}`;

type Termination = LadderAction & { readonly type: 'Terminate' };

/** The termination that follows once a replacement is ready; undefined: the list no longer has that action. */
export function terminationAfter(key: string, ladder: readonly LadderAction[]): Termination | undefined {
  const action = ladder.find(each => keyOf(each) === key);
  return action && { ...action, type: 'Terminate', timeout: STUCK_AFTER, key };
}

/** Acts of one kind count against one allowance, whatever their timeout. */
const kindOf = (key: string): string => key.slice(0, key.lastIndexOf('|'));

/** When the action may be taken again; undefined: now. */
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
 * Actions that count as taken when an incident begins. Within a day of one of the same type it goes on in the ladder,
 * after the actions before the last one.
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
 * Of actions that count as taken since an earlier incident, when one may be taken again: the last one with its allowance, those before it once
 * that incident is a day ago as well.
 */
function carriedReturns(
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
  /** All that is left was refused, and is tried again then. */
  | { readonly kind: 'refused'; readonly until: EpochMs; readonly message: string }
  /** All that is left is to launch a replacement, which the pool does again then. */
  | { readonly kind: 'unavailable'; readonly until: EpochMs }
  /** Nothing is left. @param until an allowance returns */
  | { readonly kind: 'exhausted'; readonly until: EpochMs | undefined };

interface LadderState<Action extends LadderAction> {
  readonly ladder: readonly Action[];
  readonly taken: readonly string[];
  readonly acts: readonly Act[];
  readonly refusals: Refusals | undefined;
  /** What a try rests on. A refusal with another basis no longer counts. */
  readonly basis: string;
  /** Replacements that did not become ready in this incident. */
  readonly skipped?: readonly string[] | undefined;
  /** When the pool launches replacements again; undefined: now. */
  readonly launchesFrom?: EpochMs | undefined;
}

/** Which action is next. */
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

/** A refusal that may pass is waited for five minutes, or for the timeout of a custom resource that cannot be made yet. */
const longestWait = ({ type, timeout }: LadderAction): DurationMs =>
  type === 'CustomResource' ? timeout : TRANSIENT_FAILURE;

/** Whether the action keeps its turn until the refusal passes, instead of leaving it to the next one. */
export const isWaitedFor = (refusal: Refusal, action: LadderAction): boolean =>
  isTransient(refusal, longestWait(action));

/** A refusal that may pass is tried again after 5 s, 10 s, 20 s …, any other ever less often. */
function tryTime(refusal: Refusal, action: LadderAction): EpochMs {
  if (!isWaitedFor(refusal, action)) return nextTry(refusal);
  const delay = action.type === 'CustomResource' ? RESOURCE_CHECK : retryWait(refusal.count);
  return earliest(addDuration(refusal.lastTime, delay), addDuration(refusal.firstTime, longestWait(action)));
}

/** Until when a refused act waits; undefined: it may be tried. */
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
