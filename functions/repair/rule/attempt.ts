/** An attempt: how it begins, what it says, and what is remembered of it once it is over. Pure. */
import {
  NODE_POOL_LABEL,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../../shared/domain/node-claim.ts';
import type { RefusalCause } from '../../../shared/domain/refusal.ts';
import type { DrainBound } from '../../../shared/domain/repair-policy.ts';
import {
  type EpochMs,
  addDuration,
  earliest,
  latest,
  parseTimestamp,
  toTimestamp,
} from '../../../shared/domain/time.ts';
import { failureOf, withoutUndone } from './guards.ts';
import { type Rung, keyOf } from './ladder.ts';
import type { Attempt, AttemptOf, NodeRecord, Ours, PoolRecord, Replacement } from './record.ts';
import { nextPause, replacementName } from './replacement.ts';
import { RUN_SETTLES_AFTER } from './times.ts';
import type { Candidate, NodeLook } from './verdict.ts';
import { withAct } from './ladder.ts';

/** From when on an attempt without an outcome is judged by what is seen. */
export function settledTime(attempt: Attempt): EpochMs {
  const settled = addDuration(attempt.time, RUN_SETTLES_AFTER);
  const askTime = attempt.action === 'Terminate' ? attempt.askTime : undefined;
  return askTime === undefined ? settled : latest(settled, askTime);
}

/** What a drain or custom resource was asked for by. */
const requestOf = (attempt: Attempt | undefined): string | undefined =>
  attempt?.action === 'Drain' || attempt?.action === 'CustomResource' ? attempt.requestId : undefined;

/** What it launches, or puts in the place of the node. */
export const replacementOf = (attempt: Attempt | undefined): Replacement | undefined =>
  attempt?.action === 'Replace' || attempt?.action === 'Terminate' ? attempt.replacement : undefined;

/** The record once the act is accepted. */
export function accepted(record: NodeRecord, attempt: Attempt, rungs: readonly Rung[]): NodeRecord {
  const { key, action, incident } = attempt;
  const bootID = attempt.action === 'Reboot' ? attempt.bootID : undefined;
  // It is taken once it has become ready.
  if (action === 'Replace') return { ...record, attempt: { ...attempt, phase: 'accepted' } };
  const { [key]: _, ...refusals } = record.refusals ?? {};
  const { refusals: __, ours, ...rest } = record;
  // What an attempt before had set is what this one has made use of.
  const { annotation: ___, ...others } = ours ?? {};
  const left = action === 'Terminate' ? others : ours;
  const act = { key, action, time: attempt.time, ...(bootID !== undefined && { bootID }) };
  return {
    ...rest,
    ...(Object.keys(refusals).length > 0 && { refusals }),
    ...(left && Object.keys(left).length > 0 && { ours: left }),
    attempt: { ...attempt, phase: 'accepted' },
    illness: {
      ...record.illness,
      type: incident.conditionType,
      taken: [...new Set([...(record.illness?.taken ?? []), key])],
    },
    acts: [...withAct(record, act, rungs)],
    before: { type: incident.conditionType, key, time: attempt.time },
  };
}

/** The attempt is over; what it has made or set is still known as ours. */
export function withoutAttempt(held: NodeRecord, attempt: Attempt): NodeRecord {
  const { attempt: _, ...record } = held;
  const drain = attempt.action === 'Drain' ? attempt.requestId : undefined;
  const annotation = attempt.phase === 'intended' && attempt.action === 'Terminate' ? annotationOf(attempt) : undefined;
  if (annotation === undefined && drain === undefined) return record;
  return {
    ...record,
    ours: { ...record.ours, ...(annotation && { annotation }), ...(drain !== undefined && { drain }) },
  };
}

/** What a termination sets on its NodeClaim. */
function annotationOf({
  claim,
  terminationTimestamp: set,
  previousTimestamp: previous,
}: AttemptOf<'Terminate'>): Ours['annotation'] {
  return set !== undefined && claim !== undefined
    ? { claim, set, ...(previous !== undefined && { previous }) }
    : undefined;
}

/** The attempt is called off: not taken. */
export function calledOff(held: NodeRecord, attempt: Attempt): NodeRecord {
  const record = withoutAttempt(held, attempt);
  if (record.illness === undefined) return record;
  const taken = record.illness.taken.filter(each => each !== attempt.key);
  return { ...record, illness: { ...record.illness, taken } };
}

/** Since when, until when: what is said of an act under way. */
export function describe(attempt: Attempt): string {
  const { action, claim, until, answer, time } = attempt;
  if (answer !== undefined) return `${action} is over: ${answer.message}`;
  const since = `since ${toTimestamp(time)}`;
  if (action === 'Replace')
    return `NodeClaim ${attempt.replacement?.name ?? ''} is being launched ${since}, until ${toTimestamp(until)}`;
  if (action !== 'Terminate') return `${action} is under way ${since}, until ${toTimestamp(until)}`;
  return claim === undefined
    ? `the instance was terminated in its Auto Scaling group, ${since}`
    : `NodeClaim ${claim.name} is being terminated, ${since}`;
}

export function createAttempt(candidate: Candidate, now: EpochMs): Attempt {
  const { look, due, rung, stale, replacement: ready } = candidate;
  const { view, record } = look;
  const base = {
    number: stale?.number ?? (record?.number ?? 0) + 1,
    phase: 'intended' as const,
    time: now,
    ...(due.claim && { claim: { name: due.claim.name, uid: due.claim.uid } }),
    incident: due.incident,
    key: keyOf(rung),
    until: addDuration(now, rung.timeout),
  };
  const { type: action } = rung;
  switch (action) {
    case 'Reboot':
      return { ...base, action, ...(view.bootID !== undefined && { bootID: view.bootID }) };
    case 'Drain':
    case 'CustomResource':
      return { ...base, action, requestId: requestOf(stale) ?? `${view.uid}.${now}` };
    case 'Replace': {
      const pool = due.claim?.labels[NODE_POOL_LABEL];
      if (due.claim === undefined || pool === undefined) return { ...base, action };
      const launched = (record?.launched ?? 0) + 1;
      const name = replacementOf(stale)?.name ?? replacementName(pool, due.claim.uid, launched);
      return { ...base, action, replacement: { name } };
    }
    case 'Terminate':
      return {
        ...base,
        action,
        ...(ready && { replacement: ready }),
        ...(due.claim && deadlineOf(candidate, due.claim, now)),
      };
  }
}

/** The annotation that it sets, and what that stands in place of. */
function deadlineOf(
  { look: { record }, due, stale }: Candidate,
  claim: NodeClaimView,
  now: EpochMs,
): Pick<AttemptOf<'Terminate'>, 'terminationTimestamp' | 'previousTimestamp' | 'podsUntil'> {
  const set = claim.annotations[TERMINATION_TIMESTAMP_ANNOTATION];
  const standing = set === undefined ? undefined : parseTimestamp(set);
  // An annotation of an attempt before is still known as ours, and so is what it stands in place of.
  const before = stale ?? record?.attempt;
  const known = [before?.action === 'Terminate' ? annotationOf(before) : undefined, record?.ours?.annotation];
  const ours = set === undefined ? undefined : known.find(each => each?.set === set);
  const previous = ours === undefined ? set : ours.previous;
  const wanted = deadlineBy(due.terms.drainBound, claim, now);
  const isLater = wanted !== undefined && (standing === undefined || standing > wanted);
  const timestamp = isLater ? toTimestamp(wanted) : ours?.set;
  const podsUntil = earliest(standing, wanted);
  return {
    ...(timestamp !== undefined && { terminationTimestamp: timestamp }),
    ...(timestamp !== undefined && previous !== undefined && { previousTimestamp: previous }),
    ...(podsUntil !== undefined && { podsUntil }),
  };
}

/** When what is left of the pods goes; undefined: never, whoever terminates it waits. */
function deadlineBy(
  bound: DrainBound,
  { terminationGracePeriod: own }: NodeClaimView,
  now: EpochMs,
): EpochMs | undefined {
  const time = bound === 'Inherit' || (own !== undefined && own < bound) ? own : bound;
  return time === undefined ? undefined : addDuration(now, time);
}

/** What a termination means for the pods of the node. */
export function podsText({ time, podsUntil, terminationTimestamp }: AttemptOf<'Terminate'>): string {
  if (podsUntil === undefined)
    return terminationTimestamp === undefined ? ', and waits for its pods as long as they take' : ' forcefully';
  return podsUntil <= time ? ' forcefully' : `, and its pods have until ${toTimestamp(podsUntil)}`;
}

/** Pods have time until then; undefined: none, or no end. */
export const graceEnd = (attempt: Attempt): EpochMs | undefined =>
  attempt.action === 'Terminate' && attempt.podsUntil !== undefined && attempt.podsUntil > attempt.time
    ? attempt.podsUntil
    : undefined;

/** Pods are waited for, however long that takes. */
export const isUnbounded = (attempt: Attempt): boolean =>
  attempt.action === 'Terminate' &&
  attempt.claim !== undefined &&
  attempt.podsUntil === undefined &&
  attempt.terminationTimestamp === undefined;

/** What is remembered of a node at first. */
export const newNode = (name: string, pool: string | undefined): NodeRecord => ({
  name,
  ...(pool !== undefined && { pool }),
  clocks: {},
  acts: [],
  number: 0,
  episodes: [],
});

const terminationOf = (node: string, { incident, time, replacement }: AttemptOf<'Terminate'>) => ({
  condition: failureOf(incident),
  time,
  node,
  ...(replacement && { isReplaced: true as const }),
});

/** What was done to a node, and what came of it. */
interface CarriedAct {
  readonly granted: { readonly look: Pick<NodeLook, 'node'>; readonly attempt: Attempt };
  readonly outcome:
    | { readonly kind: 'accepted'; readonly isOther?: true }
    | { readonly kind: 'refused'; readonly cause: RefusalCause }
    | { readonly kind: 'calledOff' | 'unknown' };
}

/** What the pool remembers after the acts of a pass. */
export function poolAfter(
  state: PoolRecord,
  carried: readonly CarriedAct[],
  looks: readonly NodeLook[],
  now: EpochMs,
): PoolRecord {
  const hasFailed = carried.some(
    ({ granted, outcome }) =>
      granted.attempt.action === 'Replace' && outcome.kind === 'refused' && outcome.cause !== 'passing',
  );
  const hasReplaced = carried.some(
    ({ granted: { attempt }, outcome }) =>
      outcome.kind === 'accepted' && attempt.action === 'Terminate' && attempt.replacement !== undefined,
  );
  const undone = carried.filter(({ outcome }) => outcome.kind === 'calledOff' || outcome.kind === 'refused');
  const free = new Set(
    looks.flatMap(({ node, state: of }) =>
      undone.some(each => each.granted.look.node.uid === node.uid) && of !== 'inFlight' ? node.uid : [],
    ),
  );
  const known = new Set(state.terminations.flatMap(({ node }) => node ?? []));
  const terminated = carried.flatMap(({ granted: { attempt, look }, outcome }) =>
    outcome.kind === 'accepted' &&
    outcome.isOther !== true &&
    attempt.action === 'Terminate' &&
    !known.has(look.node.uid)
      ? [terminationOf(look.node.uid, attempt)]
      : [],
  );
  // Those of runs that died before they had counted them.
  const acted = new Set(carried.map(({ granted }) => granted.look.node.uid));
  const uncounted = looks.flatMap(({ node: { uid }, record, unsaid }) => {
    const lost = unsaid.find(({ kind }) => kind === 'lost')?.attempt;
    const attempt = lost ?? (record?.attempt?.phase === 'accepted' ? record.attempt : undefined);
    const isCounted = acted.has(uid) || known.has(uid);
    return isCounted || attempt?.action !== 'Terminate' ? [] : [terminationOf(uid, attempt)];
  });
  const inFlight = Object.fromEntries(Object.entries(state.inFlight).filter(([uid]) => !free.has(uid)));
  const ramp = withoutUndone(state.ramp, undone.length);
  const { ramp: _, launchPause, ...rest } = state;
  const pause = hasFailed ? nextPause(launchPause, now) : hasReplaced ? undefined : launchPause;
  return {
    ...rest,
    ...(pause && { launchPause: pause }),
    ...(ramp && { ramp }),
    inFlight,
    terminations: [...state.terminations, ...uncounted, ...terminated],
    followed: looks.flatMap(({ node: { uid }, state: of }) => (of !== 'quiet' && !(uid in inFlight) ? uid : [])),
    counts: { ...state.counts, repairing: looks.filter(({ record }) => record?.attempt !== undefined).length },
  };
}
