/**
 * Runs the passes of a pool: at most one a second, and one for many requests. Order: claim the pass → look → reserve the attempts in
 * the pool's record (I4) → carry them out, each looked at once more → record what came of them → report.
 *
 * ```
 *   request ──▶ claim (passTime) ──▶ look at pool, nodes, claims ──▶ decide ──┬─ nothing to do ──▶ record, report
 *      │                                                                      └─ reserve ──▶ carry out ──▶ record, report
 *      └─ less than a second after the last one: the timer of the pool's record
 * ```
 */
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { REPAIR_METRICS } from '../../../shared/contract/metrics.ts';
import { addDuration, earliest, isDue, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type Held, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { loadCluster, loadRules, type PoolRules } from '../observe.ts';
import { reportOfVerdict, vetoFault, type Place } from '../report.ts';
import { OUTCOME_SETTLES_AFTER } from './attempts.ts';
import { carryOut, withdraw, type Carried } from './carry-out.ts';
import type { PassDecision, PassObservation } from './decide.ts';
import type { PassDeps } from './deps.ts';
import { loadEpisodes } from './episodes.ts';
import { failureOf } from './guards.ts';
import type { Verdict } from './look.ts';
import type { PoolState } from './pool.ts';
import { NEW_POOL, poolCodec, poolRecordId, poolSubject } from './record.ts';
import { newsOf, type News } from './said.ts';

/** Passes of one pool are this far apart. */
export const PASS_SPACING = seconds(1);
/** A pass that dies is made up for after this long. */
const PASS_SETTLES_AFTER = seconds(60);
/** Writes of the outcome; only a handful of functions run at once. */
const MAX_TRIES = 5;

export interface Passes {
  /** Sees to it that a pass begins at or after `since`; undefined: that one is armed. */
  ensure(pool: string | undefined, since: EpochMs | undefined): Promise<void>;
  /** Something changed that may let held repairs of this pool go on. Without a record nothing is held. */
  poolChanged(pool: string | undefined): Promise<void>;
  /** The timer of the pool's record is due. */
  timerDue(pool: string | undefined, wakeUp: UsedWakeUp): Promise<void>;
}

export function createPasses(deps: PassDeps): Passes {
  const open = (pool: string | undefined, wakeUp?: UsedWakeUp): TimedRecord<PoolState> =>
    openRecord(deps, poolCodec, poolRecordId(pool), wakeUp);
  const request = async (pool: string | undefined, record: TimedRecord<PoolState>, wants: Wants): Promise<void> => {
    const claimed = await claimPass(deps, pool, record, wants);
    if (claimed !== undefined) await runPass(deps, pool, record, claimed);
  };
  return {
    ensure: (pool, since) =>
      request(pool, open(pool), state => {
        if (state === undefined) return 'pass';
        return since !== undefined && state.passTime < since ? 'pass' : 'armed';
      }),
    poolChanged: pool => request(pool, open(pool), state => (state === undefined ? 'nothing' : 'pass')),
    async timerDue(pool, wakeUp) {
      const record = open(pool, wakeUp);
      const held = await record.load();
      // Each pass sets the timer anew. A wake-up of an earlier setting would start one more chain of passes, for good.
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      if (armed !== wakeUp.wakeTime && (armed === undefined || !isDue(deps.clock.now(), armed))) return;
      await request(pool, record, state => (state === undefined ? 'nothing' : 'pass'));
    },
  };
}

/** What a request wants of a pool in this state; undefined: there is no record of it. */
type Wants = (state: PoolState | undefined) => 'nothing' | 'armed' | 'pass';

/** Answers when the pass began if this run is to make it; the others are served by its timer, or by a pass that began before. */
async function claimPass(
  deps: PassDeps,
  pool: string | undefined,
  record: TimedRecord<PoolState>,
  wants: Wants,
): Promise<EpochMs | undefined> {
  let claimed: EpochMs | undefined;
  await settle<Held<PoolState>, 'nothing' | 'armed' | 'pass'>({
    what: poolRecordId(pool),
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: held => (held.kind === 'newer' ? 'nothing' : wants(held.kind === 'held' ? held.value : undefined)),
    async apply(wanted, held) {
      if (wanted === 'nothing' || held.kind === 'newer') return DONE;
      const state = held.kind === 'held' ? held.value : NEW_POOL;
      const now = deps.clock.now();
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      const subject = poolSubject(pool);
      const next = addDuration(state.passTime, PASS_SPACING);
      // Saving also keeps a record that another run is about to close.
      if (wanted === 'armed') return written(await record.save({ subject, value: state, wakeTime: armed ?? now }));
      if (!isDue(now, next)) return written(await record.save({ subject, value: state, wakeTime: next }));
      const wakeTime = addDuration(now, PASS_SETTLES_AFTER);
      const saved = await record.save({ subject, value: { ...state, passTime: now }, wakeTime, punctual: false });
      if (saved.written) claimed = now;
      return written(saved);
    },
  });
  return claimed;
}

/** A timer that is put off is no reason to look again here: whoever relies on it wrote the record, and the write is lost. */
const written = (saved: Turn & { readonly written: boolean }): Turn => (saved.written ? DONE : saved);

interface Seen {
  readonly state: PoolState;
  readonly rules: PoolRules;
  readonly episodes: PassObservation['episodes'];
  readonly decision: PassDecision;
}

async function runPass(
  deps: PassDeps,
  pool: string | undefined,
  record: TimedRecord<PoolState>,
  passTime: EpochMs,
): Promise<void> {
  const subject = poolSubject(pool);
  await settle<Seen | undefined, undefined>({
    what: poolRecordId(pool),
    async observe() {
      const held = await record.load();
      // A later pass sees all that this one would.
      if (held.kind === 'newer' || (held.kind === 'held' && held.value.passTime > passTime)) return { kind: 'over' };
      const state = held.kind === 'held' ? held.value : { ...NEW_POOL, passTime };
      const [rules, cluster] = await inParallel([loadRules(deps, pool), loadCluster(deps)]);
      const episodes = await loadEpisodes(deps, rules.rules, cluster.nodes);
      const now = deps.clock.now();
      const decision = deps.decidePass({ now, pool, rules: rules.rules, ...cluster, episodes, state });
      return { kind: 'here', observation: { state, rules, episodes, decision } };
    },
    decide: () => undefined,
    async apply(_, seen) {
      if (seen === undefined) return DONE;
      const { decision, state, rules } = seen;
      const place: Place = { pool, source: rules.rules.source };
      for (const attempt of decision.withdrawals) await withdraw(deps, attempt);
      const granted = decision.verdicts.flatMap(verdict => (verdict.kind === 'repair' ? verdict : []));
      if (granted.length === 0) return conclude(deps, record, pool, seen, place);

      const wakeTime = addDuration(deps.clock.now(), PASS_SETTLES_AFTER);
      const value = { ...decision.state, said: state.said };
      const reserved = await record.save({ subject, value, wakeTime, punctual: false });
      if (!reserved.written) return again('the pool changed before its attempts were reserved');
      const carried = await carryOut(deps, granted, { pool, place, episodes: seen.episodes });
      await recordOutcomes(deps, record, pool, seen, carried, place);
      const failure = carried.find(({ outcome }) => outcome.kind === 'unknown');
      if (failure?.outcome.kind === 'unknown') throw failure.outcome.error;
      return DONE;
    },
  });
}

/** Nothing was granted: what holds is recorded and said; a pool in which nothing is due or under way is closed. */
async function conclude(
  deps: PassDeps,
  record: TimedRecord<PoolState>,
  pool: string | undefined,
  { decision }: Seen,
  place: Place,
): Promise<Turn> {
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, decision.state.said, now);
  const turn =
    decision.wakeTime === undefined && news.verdicts.length === 0
      ? await record.release()
      : written(
          await record.save({
            subject: poolSubject(pool),
            value: { ...decision.state, said: news.said },
            wakeTime: wakeTimeOf(decision.wakeTime, news, now),
          }),
        );
  if (turn.kind === 'done') await say(deps, decision.verdicts, news, place, decision.state);
  return turn;
}

/** What came of the attempts, whatever other passes wrote meanwhile. */
async function recordOutcomes(
  deps: PassDeps,
  record: TimedRecord<PoolState>,
  pool: string | undefined,
  { decision, state: before }: Seen,
  carried: readonly Carried[],
  place: Place,
): Promise<void> {
  const outcomes = new Map(carried.map(one => [one.attempt.node.uid, one]));
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, before.said, now);
  const soon = carried.map(({ attempt, outcome }) => {
    if (outcome.kind === 'calledOff') return addDuration(now, PASS_SPACING);
    return outcome.kind === 'unknown' ? addDuration(attempt.intendedTime, OUTCOME_SETTLES_AFTER) : undefined;
  });
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = await record.load();
    if (held.kind !== 'held') break;
    const isOurs = held.value.passTime === decision.state.passTime;
    const attempts = held.value.attempts.flatMap(attempt => {
      const own = outcomes.get(attempt.node.uid);
      if (own === undefined || own.attempt.number !== attempt.number) return attempt;
      if (own.outcome.kind === 'calledOff') return [];
      return own.outcome.kind === 'accepted' ? { ...attempt, phase: 'accepted' as const } : attempt;
    });
    const repairs = withoutCalledOff(held.value.repairs, carried);
    const value = { ...held.value, attempts, repairs, ...(isOurs && { said: news.said }) };
    const wakeTime = soon.reduce(earliest, wakeTimeOf(decision.wakeTime, news, now)) ?? now;
    const other = held.stored.nextWakeTime ?? now;
    const saved = await record.save({ subject: poolSubject(pool), value, wakeTime: isOurs ? wakeTime : other });
    if (saved.written) return say(deps, decision.verdicts, isOurs ? news : undefined, place, value);
  }
  // The attempts are intended still: the next pass finds out by looking (I4).
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

function wakeTimeOf(wakeTime: EpochMs | undefined, { said, hasMore }: News, now: EpochMs): EpochMs {
  const again = Object.keys(said.nodes).length > 0 ? said.againTime : undefined;
  const more = hasMore ? addDuration(now, PASS_SPACING) : undefined;
  return [wakeTime, again, more].reduce(earliest, undefined) ?? addDuration(now, PASS_SETTLES_AFTER);
}

async function say(
  deps: PassDeps,
  verdicts: readonly Verdict[],
  news: News | undefined,
  place: Place,
  state: PoolState,
): Promise<void> {
  const acts = verdicts.filter(({ kind }) => kind === 'wouldRepair' || kind === 'recovered');
  for (const verdict of [...acts, ...(news?.verdicts ?? [])]) {
    await deps.reporter.report(reportOfVerdict(verdict, place));
    const fault = vetoFault(verdict);
    if (fault !== undefined) await deps.events.record(fault);
  }
  const nodePool = place.pool ?? 'none';
  const held = verdicts.filter(({ kind }) => kind === 'blocked' || kind === 'vetoed').length;
  deps.metrics.count(REPAIR_METRICS.held, held, { nodePool });
  deps.metrics.count(REPAIR_METRICS.underWay, state.attempts.length, { nodePool });
}
