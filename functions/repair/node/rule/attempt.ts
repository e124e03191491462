/**
 * Creates an attempt, and says what the record keeps of it once it is accepted, called off or over. Pure.
 */
import { GOES_ON_WITHIN } from './incident.ts';
import { isBeforeReboot, keyOf, kindOf } from './ladder.ts';
import type { ActionAnswer, ActionType, Attempt, AttemptOf, ClaimTermination, Replacement } from '../attempt-record.ts';
import type { Act, NodeRecord, RepairLeftovers } from '../record.ts';
import { replacementName } from './replacement.ts';
import type { ActionAttempt, LadderAction } from './verdict.ts';
import type { DueFinding } from './finding.ts';
import {
  deadlineBy,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../../../shared/domain/node-claim.ts';
import { MAX_ATTEMPTS } from '../../../../shared/domain/repair-policy.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  parseTimestamp,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** The time from which an attempt without a recorded outcome is judged by the live objects. */
export function judgeTime(attempt: Attempt): EpochMs {
  const runOver = addDuration(attempt.time, RUN_ENDS_WITHIN);
  const askTime = attempt.action === 'Terminate' && attempt.claim === undefined ? attempt.askTime : undefined;
  return askTime === undefined ? runOver : latest(runOver, askTime);
}

const requestOf = (attempt: Attempt): string | undefined =>
  attempt.action === 'Drain' || attempt.action === 'CustomResource' ? attempt.requestId : undefined;

/** The replacement that the attempt launches, or that takes the place of the node. */
export const replacementOf = (attempt: Attempt | undefined): Replacement | undefined =>
  attempt?.action === 'Replace' ? attempt.replacement : claimTerminationOf(attempt)?.replacement;

const claimTerminationOf = (attempt: Attempt | undefined): ClaimTermination | undefined =>
  attempt?.action === 'Terminate' && attempt.claim !== undefined ? attempt : undefined;

/**
 * The answer to a drain or to a custom resource that the attempt has requested; undefined: there is none yet, or the
 * attempt is of another action.
 */
export const answerOf = (attempt: Attempt): ActionAnswer | undefined =>
  attempt.action === 'Drain' || attempt.action === 'CustomResource' ? attempt.answer : undefined;

/** Whether an accepted act still has time. */
export const hasTime = (attempt: Attempt, now: EpochMs): boolean =>
  answerOf(attempt) === undefined && !isDue(now, attempt.until);

/**
 * Whether the node is under maintenance for a reboot: from the drain before it until the time of the reboot is over.
 */
export const isRebootUnderWay = (attempt: Attempt | undefined, now: EpochMs): boolean =>
  attempt !== undefined &&
  ((isBeforeReboot(attempt) && answerOf(attempt)?.kind !== 'stopped') ||
    (attempt.action === 'Reboot' && (attempt.phase === 'intended' || hasTime(attempt, now))));

/** The record once the act is accepted. */
export function withAcceptedAttempt(record: NodeRecord, attempt: Attempt, ladder: readonly LadderAction[]): NodeRecord {
  const { key, action, dueCondition } = attempt;
  const { [key]: _, ...refusals } = record.refusals ?? {};
  const { refusals: __, ...withoutRefusals } = record;
  const accepted = { ...withoutRefusals, ...(Object.keys(refusals).length > 0 && { refusals }) };
  // A launch counts as taken once the replacement is ready. Its termination has the same key, and was not refused.
  if (action === 'Replace') return { ...accepted, attempt: { ...attempt, phase: 'accepted' } };
  const { leftovers, ...otherFields } = accepted;
  // A termination takes over the annotation that an earlier attempt had set.
  const { annotation, requested: ___, ...others } = leftovers ?? {};
  const leftoversAfter = annotation === undefined || action === 'Terminate' ? others : { ...others, annotation };
  return {
    ...otherFields,
    ...(Object.keys(leftoversAfter).length > 0 && { leftovers: leftoversAfter }),
    attempt: { ...attempt, phase: 'accepted' },
    incident: {
      ...record.incident,
      type: dueCondition.conditionType,
      taken: [...new Set([...(record.incident?.taken ?? []), key])],
    },
    acts: [...withAct(record, attempt, ladder)],
    lastIncident: { type: dueCondition.conditionType, key, time: attempt.time },
  };
}

/** The record after the end of the attempt: its leftovers still name what the attempt has made or set. */
export function withoutAttempt(recordBefore: NodeRecord, attempt: Attempt): NodeRecord {
  const { attempt: _, ...record } = recordBefore;
  const isIntended = attempt.phase === 'intended';
  const drain = attempt.action === 'Drain' ? attempt.requestId : undefined;
  const requestId = isIntended ? requestOf(attempt) : undefined;
  const annotation = isIntended ? annotationOf(attempt) : undefined;
  const leftovers: RepairLeftovers = {
    ...record.leftovers,
    ...(annotation && { annotation }),
    ...(drain !== undefined && { drain }),
    ...(requestId !== undefined && { requested: { key: attempt.key, requestId } }),
  };
  return Object.keys(leftovers).length === 0 ? record : { ...record, leftovers };
}

/** The annotation with the deadline that a termination sets on its NodeClaim. */
export function annotationOf(attempt: Attempt | undefined): RepairLeftovers['annotation'] {
  const { pods, claim } = claimTerminationOf(attempt) ?? {};
  const annotation = pods?.kind === 'unbounded' ? undefined : pods?.annotation;
  return annotation && claim && { ...annotation, claim };
}

/**
 * The record after a launch was taken back while the unhealthy NodeClaim is still there. The launch uses up an attempt;
 * otherwise a node that comes and goes would launch without end (I11).
 */
export function withoutTakenBackLaunch(
  record: NodeRecord,
  attempt: AttemptOf<'Replace'>,
  ladder: readonly LadderAction[],
): NodeRecord {
  return { ...withoutAttempt(record, attempt), acts: [...withAct(record, attempt, ladder)] };
}

/** The record without the act of the attempt: it uses up none of its allowance. */
export function withoutAct(record: NodeRecord, { key, time }: Attempt): NodeRecord {
  return { ...record, acts: record.acts.filter(act => act.key !== key || act.time !== time) };
}

/** The record after the attempt was called off: its action counts as not taken. */
export function withoutCalledOffAttempt(recordBefore: NodeRecord, attempt: Attempt): NodeRecord {
  const record = withoutAttempt(recordBefore, attempt);
  if (record.incident === undefined) return record;
  const taken = record.incident.taken.filter(each => each !== attempt.key);
  return { ...record, incident: { ...record.incident, taken } };
}

/** The attempt at the action of a due node, with the action. */
export function createAttempt(finding: DueFinding, now: EpochMs): ActionAttempt {
  const { node, record, verdict } = finding;
  const { action, dueCondition, unfinished } = verdict;
  const claim = verdict.claim && { name: verdict.claim.name, uid: verdict.claim.uid };
  const base = {
    number: unfinished?.number ?? (record?.number ?? 0) + 1,
    phase: 'intended' as const,
    time: now,
    dueCondition,
    key: keyOf(action),
    until: addDuration(now, action.timeout),
  };
  const { requested } = record?.leftovers ?? {};
  const requestId = requested?.key === base.key ? requested.requestId : `${node.uid}.${now}`;
  switch (action.type) {
    case 'Reboot': {
      const boot = node.bootID !== undefined && { bootID: node.bootID };
      return { type: action.type, action, attempt: { ...base, action: action.type, claim, ...boot } };
    }
    case 'Drain':
      return { type: action.type, action, attempt: { ...base, action: action.type, claim, requestId } };
    case 'CustomResource':
      return { type: action.type, action, attempt: { ...base, action: action.type, claim, requestId } };
    case 'Replace': {
      const { type } = action;
      const { pool, claim: replaced } = action.launch;
      const launched = (record?.launched ?? 0) + 1;
      const name =
        replacementOf(unfinished)?.name ?? action.launch.name ?? replacementName(pool, replaced.uid, launched);
      return { type, action, attempt: { ...base, action: type, claim: replaced, replacement: { name } } };
    }
    case 'Terminate': {
      const { type, replacement } = action;
      if (claim === undefined || verdict.claim === undefined)
        return { type, action, attempt: { ...base, action: type } };
      const pods = podsTimeOf(finding, verdict.claim, now);
      const attempt = { ...base, action: type, claim, pods, ...(replacement && { replacement }) };
      return { type, action, attempt };
    }
  }
}

/**
 * The time that the pods have, with the annotation that the termination sets for it and the value that the annotation
 * replaces.
 */
function podsTimeOf(finding: DueFinding, claim: NodeClaimView, now: EpochMs): ClaimTermination['pods'] {
  const { record, verdict } = finding;
  const { unfinished, entryPolicy } = verdict;
  const set = claim.annotations[TERMINATION_TIMESTAMP_ANNOTATION];
  const deadlineInForce = set === undefined ? undefined : parseTimestamp(set);
  // The annotation of an earlier attempt is still ours, and so is the value that it replaced.
  const ourAnnotations = [annotationOf(unfinished ?? record?.attempt), record?.leftovers?.annotation];
  const ourAnnotation = set === undefined ? undefined : ourAnnotations.find(each => each?.set === set);
  const previous = ourAnnotation === undefined ? set : ourAnnotation.previous;
  const bound = deadlineBy(claim, entryPolicy.drainBound, now);
  const drained = drainEnd(finding, ourAnnotation, now);
  // The NodeClaim's own time bounds any other.
  const wanted = bound && drained ? latest(bound, earliest(drained, deadlineBy(claim, 'Inherit', now))) : bound;
  const isLater = wanted !== undefined && (deadlineInForce === undefined || deadlineInForce > wanted);
  const timestamp = isLater ? toTimestamp(wanted) : ourAnnotation?.set;
  const time = earliest(deadlineInForce, wanted);
  if (time === undefined) return { kind: 'unbounded' };
  const annotation = timestamp === undefined ? undefined : { set: timestamp, previous };
  return { kind: 'until', time, annotation };
}

/**
 * The time that the pods have by the drain before their termination, if that drain failed or could not be asked for: it
 * was to be the time in which they leave. undefined: they have had it, or there is no drain before it.
 * @param ours the annotation that an earlier try of this termination has set
 */
function drainEnd(
  { record, verdict: { action } }: DueFinding,
  ours: ReturnType<typeof annotationOf>,
  now: EpochMs,
): EpochMs | undefined {
  if (action.type !== 'Terminate' || action.after?.type !== 'Drain') return undefined;
  if (ours !== undefined) return parseTimestamp(ours.set);
  const { key, timeout } = action.after;
  if (record?.incident?.taken.includes(key) !== true) return addDuration(now, timeout);
  const { attempt } = record;
  return attempt?.key === key && answerOf(attempt)?.kind === 'failed' ? attempt.until : undefined;
}

export const newNode = (name: string, pool: string | undefined): NodeRecord => ({
  name,
  ...(pool !== undefined && { pool }),
  onsets: {},
  acts: [],
  number: 0,
  episodes: [],
});

/** The act that an attempt is once it was accepted. */
export const actOf = ({ key, time, ...attempt }: ActFields): Act =>
  attempt.action === 'Reboot'
    ? { key, action: attempt.action, time, bootID: attempt.bootID }
    : { key, action: attempt.action, time };

type ActFields = { readonly key: string; readonly time: EpochMs } & (
  | { readonly action: 'Reboot'; readonly bootID?: string | undefined }
  | { readonly action: Exclude<ActionType, 'Reboot'> }
);

/** Adds the act, and drops those that no allowance counts any more, or can count beside newer ones of the same kind. */
function withAct(record: NodeRecord, attempt: Attempt, ladder: readonly LadderAction[]): readonly Act[] {
  const act = actOf(attempt);
  const longest = ladder.reduce((most, { within }) => Math.max(most, within), GOES_ON_WITHIN as number);
  const counted = [...record.acts, act].filter(({ time }) => time + longest > act.time);
  return counted.filter(
    ({ key }, index) => counted.slice(index + 1).filter(each => kindOf(each.key) === kindOf(key)).length < MAX_ATTEMPTS,
  );
}

/** The name of a condition among the terminations, e.g. `Ready=False`. */
export const failureOf = (dueCondition: { readonly conditionType: string; readonly conditionStatus: string }): string =>
  `${dueCondition.conditionType}=${dueCondition.conditionStatus}`;

/** The termination as futility counts it. */
export const terminationOf = (node: string, attempt: AttemptOf<'Terminate'>) => ({
  condition: failureOf(attempt.dueCondition),
  time: attempt.time,
  node,
  ...(replacementOf(attempt) && { isReplaced: true as const }),
});
