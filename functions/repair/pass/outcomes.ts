/** What is recorded of the attempts that a pass carried out. */
import { addDuration, earliest } from '../../../shared/domain/time.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { Place } from '../report.ts';
import { OUTCOME_SETTLES_AFTER } from './attempts.ts';
import type { Carried } from './carry-out.ts';
import type { PassDecision } from './decide.ts';
import type { PassDeps } from './deps.ts';
import { failureOf } from './futility.ts';
import type { PoolState, RepairAttempt } from './pool.ts';
import { poolSubject } from './record.ts';
import { newsOf } from './said.ts';
import { say, wakeTimeOf } from './say.ts';
import { PASS_SPACING } from './timing.ts';

/** Writes of the outcome; only a handful of functions run at once. */
const MAX_TRIES = 5;

/** What came of the attempts, whatever other passes wrote meanwhile. */
export async function recordOutcomes(
  deps: PassDeps,
  record: TimedRecord<PoolState>,
  pool: string | undefined,
  { decision, state: before }: { readonly decision: PassDecision; readonly state: PoolState },
  carried: readonly Carried[],
  place: Place,
): Promise<void> {
  const outcomes = new Map(carried.map(one => [one.attempt.node.uid, one]));
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, before.said, now);
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
    const value = { ...held.value, attempts, repairs, ...(isOurs && { said: news.said }) };
    const wakeTime = soon.reduce(earliest, wakeTimeOf(decision.wakeTime, news, now)) ?? now;
    const other = held.stored.nextWakeTime ?? now;
    const saved = await record.save({ subject: poolSubject(pool), value, wakeTime: isOurs ? wakeTime : other });
    if (saved.written) return say(deps, decision.verdicts, isOurs ? news : undefined, place, { before, after: value });
  }
  // The attempts are intended still: the next pass finds out by looking (I4).
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
      return { ...attempt, ...made, phase: 'accepted', answer: { kind: 'failed', message: outcome.why } };
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
