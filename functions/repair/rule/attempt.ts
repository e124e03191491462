/** An attempt: how it begins, what it says, and what is remembered of it once it is over. Pure. */
import {
  NODE_POOL_LABEL,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../../shared/domain/node-claim.ts';
import type { DrainBound } from '../../../shared/domain/repair-policy.ts';
import {
  type EpochMs,
  addDuration,
  earliest,
  latest,
  parseTimestamp,
  toTimestamp,
} from '../../../shared/domain/time.ts';
import { type Rung, keyOf } from './ladder.ts';
import { type Attempt, type NodeRecord } from './state.ts';
import { replacementName } from './replacement.ts';
import { RUN_SETTLES_AFTER } from './times.ts';
import type { Candidate } from './verdict.ts';
import { withAct } from './ladder.ts';

/** From when on an attempt without an outcome is judged by what is seen. */
export const settledTime = ({ time, askTime }: Attempt): EpochMs => {
  const settled = addDuration(time, RUN_SETTLES_AFTER);
  return askTime === undefined ? settled : latest(settled, askTime);
};

/** The record once the act is accepted. */
export function accepted(record: NodeRecord, attempt: Attempt, rungs: readonly Rung[]): NodeRecord {
  const { key, action, bootID, incident } = attempt;
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
  const { action, claim, phase, terminationTimestamp: set, previousTimestamp: previous, requestId } = attempt;
  const isSet = phase === 'intended' && action === 'Terminate' && set !== undefined && claim !== undefined;
  const annotation = isSet ? { claim, set, ...(previous !== undefined && { previous }) } : undefined;
  const drain = action === 'Drain' ? requestId : undefined;
  if (annotation === undefined && drain === undefined) return record;
  return {
    ...record,
    ours: { ...record.ours, ...(annotation && { annotation }), ...(drain !== undefined && { drain }) },
  };
}

/** The attempt is called off: not taken. */
export function calledOff(held: NodeRecord, attempt: Attempt): NodeRecord {
  const record = withoutAttempt(held, attempt);
  if (record.illness === undefined) return record;
  const taken = record.illness.taken.filter(each => each !== attempt.key);
  return { ...record, illness: { ...record.illness, taken } };
}

/** Since when, until when: what is said of an act under way. */
export function describe({ action, claim, until, answer, time, replacement }: Attempt): string {
  if (answer !== undefined) return `${action} is over: ${answer.message}`;
  const since = `since ${toTimestamp(time)}`;
  if (action === 'Replace')
    return `NodeClaim ${replacement?.name ?? ''} is being launched ${since}, until ${toTimestamp(until)}`;
  if (action !== 'Terminate') return `${action} is under way ${since}, until ${toTimestamp(until)}`;
  return claim === undefined
    ? `the instance was terminated in its Auto Scaling group, ${since}`
    : `NodeClaim ${claim.name} is being terminated, ${since}`;
}

export function createAttempt({ look, due, rung, stale, replacement: ready }: Candidate, now: EpochMs): Attempt {
  const { view, record } = look;
  const claim = due.claim && { name: due.claim.name, uid: due.claim.uid };
  const asked = rung.type === 'Drain' || rung.type === 'CustomResource' ? `${view.uid}.${now}` : undefined;
  const requestId = stale?.requestId ?? asked;
  const set = due.claim?.annotations[TERMINATION_TIMESTAMP_ANNOTATION];
  // An annotation of an attempt before is still known as ours, and so is what it stands in place of.
  const known = record?.ours?.annotation;
  const left = stale ?? record?.attempt;
  const standing = set === undefined ? undefined : parseTimestamp(set);
  const isOurs = set !== undefined && (left?.terminationTimestamp === set || known?.set === set);
  const previous = isOurs ? (left?.terminationTimestamp === set ? left.previousTimestamp : known?.previous) : set;
  const wanted = due.claim && deadlineBy(due.terms.drainBound, due.claim, now);
  const isLater = wanted !== undefined && (standing === undefined || standing > wanted);
  const timestamp = isLater ? toTimestamp(wanted) : isOurs ? set : undefined;
  const podsUntil = earliest(standing, wanted);
  const launched = (record?.launched ?? 0) + 1;
  const pool = due.claim?.labels[NODE_POOL_LABEL];
  const toLaunch =
    rung.type === 'Replace' && due.claim !== undefined && pool !== undefined
      ? { name: stale?.replacement?.name ?? replacementName(pool, due.claim.uid, launched) }
      : undefined;
  const replacement = ready ?? toLaunch;
  return {
    number: stale?.number ?? (record?.number ?? 0) + 1,
    phase: 'intended',
    time: now,
    ...(claim && { claim }),
    incident: due.incident,
    action: rung.type,
    key: keyOf(rung),
    until: addDuration(now, rung.timeout),
    ...(rung.type === 'Reboot' && view.bootID !== undefined && { bootID: view.bootID }),
    ...(requestId !== undefined && { requestId }),
    ...(replacement && { replacement }),
    ...(rung.type === 'Terminate' &&
      claim !== undefined && {
        ...(timestamp !== undefined && { terminationTimestamp: timestamp }),
        ...(timestamp !== undefined && previous !== undefined && { previousTimestamp: previous }),
        ...(podsUntil !== undefined && { podsUntil }),
      }),
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
export function podsText({ time, podsUntil, terminationTimestamp }: Attempt): string {
  if (podsUntil === undefined)
    return terminationTimestamp === undefined ? ', and waits for its pods as long as they take' : ' forcefully';
  return podsUntil <= time ? ' forcefully' : `, and its pods have until ${toTimestamp(podsUntil)}`;
}

/** Pods have time until then; undefined: none, or no end. */
export const graceEnd = ({ time, podsUntil }: Attempt): EpochMs | undefined =>
  podsUntil !== undefined && podsUntil > time ? podsUntil : undefined;

/** Pods are waited for, however long that takes. */
export const isUnbounded = ({ action, claim, podsUntil, terminationTimestamp }: Attempt): boolean =>
  action === 'Terminate' && claim !== undefined && podsUntil === undefined && terminationTimestamp === undefined;

/** What is remembered of a node at first. */
export const newNode = (name: string, pool: string | undefined): NodeRecord => ({
  name,
  ...(pool !== undefined && { pool }),
  clocks: {},
  acts: [],
  number: 0,
  episodes: [],
});
