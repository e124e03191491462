/** The outcomes of attempts, recorded and reported: of those under way, and of those that a pass carried out. */
import { fewAtATime } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, earliest, isDue, latest, type EpochMs } from '../../../shared/domain/time.ts';
import { orRefused } from '../../../shared/lifecycle/refusals.ts';
import type { ActionDeps } from '../actions/action.ts';
import { remediationAnswer } from '../actions/made-resources.ts';
import type { PoolRules } from '../observation.ts';
import { poolSubject } from '../record.ts';
import type { Place } from '../report.ts';
import { REFUSED_CHECK, reportOfLost } from '../report-failures.ts';
import { OUTCOME_SETTLES_AFTER, settledTime } from './attempts.ts';
import type { Carried } from './carry-out.ts';
import type { PassDecision } from './decision.ts';
import { CALM_SPACING, PASS_SPACING, type OpenPool, type PassDeps } from './deps.ts';
import { withoutUndone } from './grant.ts';
import { failureOf } from './guards.ts';
import { notTaken } from './place.ts';
import type { PoolState, RepairAttempt } from './pool.ts';
import { count, countHeld, newsOf, noteAct, say, wakeTimeOf } from './say.ts';

/** The pass has ended. */
export function ended(state: PoolState): PoolState {
  const { underWay: _, wanted: __, changed: ___, ...rest } = state;
  return rest;
}

/** The same with what is known of it by now. @param isShared some policy limits the repairs of zone or cluster */
export function concluded(state: PoolState, isShared: boolean): PoolState {
  const { calm: _, ...rest } = ended(state);
  const { attempts, said, outages, ramp } = rest;
  const isTermination = ({ action, phase, answer }: RepairAttempt): boolean =>
    action === 'Terminate' && phase === 'accepted' && answer === undefined;
  const isCalm = !isShared && attempts.every(isTermination) && countHeld(said) === 0 && outages.length === 0;
  return { ...rest, ...(isCalm && ramp === undefined && { calm: true }) };
}

/** The timer after a pass: soon, if something changed while it was under way. */
export function wakeTimeAfter(wakeTime: EpochMs, state: PoolState, now: EpochMs): EpochMs {
  const { passTime, wanted, changed, calm } = state;
  if (wanted !== undefined) return latest(now, addDuration(passTime, PASS_SPACING));
  if (changed === undefined) return wakeTime;
  const next = latest(now, addDuration(passTime, calm ? CALM_SPACING : PASS_SPACING));
  return next < wakeTime ? next : wakeTime;
}

/**
 * The attempts as they stand by what was looked up where Node and NodeClaim do not tell: the live answer before each pass.
 *
 * @param nodes of the cluster, as the pass sees them
 */
export async function inquire(
  deps: ActionDeps,
  attempts: readonly RepairAttempt[],
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<readonly RepairAttempt[]> {
  const known = new Map<RepairAttempt, RepairAttempt>();
  await fewAtATime(attempts, async attempt => {
    known.set(attempt, await inquireOne(deps, attempt, nodes, now));
  });
  return attempts.map(attempt => known.get(attempt) ?? attempt);
}

async function inquireOne(
  deps: ActionDeps,
  attempt: RepairAttempt,
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<RepairAttempt> {
  const { action, phase, claim } = attempt;
  if (action === 'CustomResource' && phase === 'accepted' && attempt.answer === undefined) {
    const answer = await remediationAnswer(deps, attempt);
    return answer === undefined ? attempt : { ...attempt, answer };
  }
  const isOpen = phase === 'intended' && isDue(now, settledTime(attempt));
  if (action !== 'Terminate' || claim !== undefined || !isOpen) return attempt;
  const providerID = nodes.find(({ uid }) => uid === attempt.node.uid)?.providerID;
  if (providerID === undefined) return attempt;
  const found = await orRefused(deps.instances.describe(providerID));
  // Nobody knows, and nothing is repeated (I4): it is asked again, and the other repairs of the pool go on.
  if (found !== undefined && 'cause' in found) return { ...attempt, retryTime: addDuration(now, REFUSED_CHECK) };
  const state = found?.state;
  const isEnding = state === undefined || state === 'shutting-down' || state === 'terminated';
  return isEnding ? { ...attempt, phase: 'accepted' } : { ...attempt, phase: 'refused', retryTime: now };
}

/** Reports the attempts of runs that died before they did (I2, I9). @param told what this run has reported */
export async function sayForDeadRuns(
  deps: PassDeps,
  { lost, found }: Pick<PassDecision, 'lost' | 'found'>,
  { place, rules, told }: { readonly place: Place; readonly rules: PoolRules; readonly told: Set<string> },
): Promise<void> {
  const isNews = ({ node, number }: RepairAttempt): boolean => !told.has(`${node.uid} ${number}`);
  for (const attempt of lost.filter(isNews)) await deps.reporter.report(reportOfLost(attempt, place));
  for (const attempt of found.filter(isNews)) {
    const pods = await loadPodsOnNode(deps, attempt.node.name);
    const message = `its run ended before it could say so, and attempt ${attempt.number} counts as carried out`;
    const events = await noteAct(deps, { attempt, message, place, pods, rules });
    for (const event of events) await deps.events.record(event);
  }
  for (const { node, number } of [...lost, ...found]) told.add(`${node.uid} ${number}`);
}

interface Pass {
  readonly decision: PassDecision;
  /** Before it. */
  readonly state: PoolState;
  readonly told: Set<string>;
  readonly place: Place;
  /** Some policy limits the repairs of zone or cluster. */
  readonly isShared: boolean;
}

/** Writes of the outcome; only a handful of functions run at once. */
const MAX_TRIES = 5;

/** Records the outcomes of the attempts, whatever other passes wrote meanwhile. Answers the state as it was written. */
export async function recordOutcomes(
  deps: PassDeps,
  { pool, record }: OpenPool,
  { decision, state: before, told, place, isShared }: Pass,
  carried: readonly Carried[],
): Promise<PoolState | undefined> {
  const outcomes = new Map(carried.map(one => [one.attempt.node.uid, one]));
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, before.said, now);
  const calledOff = carried.flatMap(({ attempt, outcome }) => (outcome.kind === 'calledOff' ? attempt : []));
  const soon = carried.map(({ attempt, outcome }) => {
    switch (outcome.kind) {
      case 'accepted':
        return undefined;
      case 'calledOff':
      case 'failed':
        return addDuration(now, PASS_SPACING);
      case 'refused':
        return outcome.retryTime;
      case 'unknown':
        return addDuration(attempt.intendedTime, OUTCOME_SETTLES_AFTER);
    }
  });
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = await record.load();
    if (held.kind !== 'held') break;
    const isOurs = held.value.passTime === decision.state.passTime;
    const attempts = held.value.attempts.flatMap(attempt => {
      const own = outcomes.get(attempt.node.uid);
      if (own === undefined || own.attempt.number !== attempt.number) return attempt;
      return attemptAfter(attempt, own) ?? [];
    });
    const repairs = withoutCalledOff(held.value.repairs, carried);
    const ramp = withoutUndone(held.value, calledOff);
    const merged = { ...held.value, attempts, repairs, ramp };
    const value = isOurs ? concluded({ ...merged, said: news.said }, isShared) : merged;
    const own = soon.reduce(earliest, wakeTimeOf(decision.wakeTime, news, now)) ?? now;
    const { wanted, changed } = held.value;
    const wakeTime = isOurs
      ? wakeTimeAfter(own, { ...value, wanted, changed }, now)
      : (held.stored.nextWakeTime ?? now);
    await say(deps, decision.verdicts, isOurs ? news : undefined, { place, told });
    const saved = await record.save({ subject: poolSubject(pool), value, wakeTime });
    if (!saved.written) continue;
    await count(deps, decision.verdicts, place, { before, after: value });
    return value;
  }
  // The attempts are intended still: the next pass finds out by looking (I4).
  return undefined;
}

/** How the attempt is remembered; undefined: not at all. */
function attemptAfter(attempt: RepairAttempt, { outcome, made, previous }: Carried): RepairAttempt | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return { ...attempt, ...made, phase: 'accepted' };
    case 'calledOff':
      return previous;
    case 'refused': {
      const answer = { kind: 'failed', message: outcome.why } as const;
      return { ...attempt, ...made, phase: 'refused', retryTime: outcome.retryTime, answer };
    }
    case 'failed':
      return notTaken({ ...attempt, ...made }, outcome.why);
    case 'unknown':
      return attempt;
  }
}

/** What was called off did not fail to help. */
function withoutCalledOff(repairs: PoolState['repairs'], carried: readonly Carried[]): PoolState['repairs'] {
  const left = [...repairs];
  for (const { attempt, outcome } of carried) {
    if (outcome.kind !== 'calledOff') continue;
    const index = left.findLastIndex(
      ({ condition, time }) => condition === failureOf(attempt) && time === attempt.intendedTime,
    );
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}
