/** One pass of a pool: look, decide, reserve, carry out, record, report. */
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { inquire } from '../actions/inquire.ts';
import { withdraw } from '../actions/withdraw.ts';
import { loadCluster, loadRules, type PoolRules } from '../observe.ts';
import type { Place } from '../report.ts';
import { carryOut } from './carry-out.ts';
import type { PassDecision, PassObservation } from './decide.ts';
import type { PassDeps } from './deps.ts';
import { loadEpisodes } from './episodes.ts';
import { recordOutcomes } from './outcomes.ts';
import type { PoolState } from './pool.ts';
import { NEW_POOL, poolRecordId, poolSubject } from './record.ts';
import { newsOf } from './said.ts';
import { say, wakeTimeOf } from './say.ts';
import { PASS_SETTLES_AFTER, written } from './timing.ts';

interface Seen {
  readonly state: PoolState;
  readonly rules: PoolRules;
  readonly episodes: PassObservation['episodes'];
  readonly decision: PassDecision;
}

export async function runPass(
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
      const before = held.kind === 'held' ? held.value : { ...NEW_POOL, passTime };
      const [rules, cluster] = await inParallel([loadRules(deps, pool), loadCluster(deps)]);
      const episodes = await loadEpisodes(deps, rules.rules, cluster.nodes);
      const attempts = await inquire(deps, before.attempts, cluster.nodes, deps.clock.now());
      const state = { ...before, attempts };
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
  { decision, state: before }: Seen,
  place: Place,
): Promise<Turn> {
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, decision.state.said, now);
  const after = { ...decision.state, said: news.said };
  const turn =
    decision.wakeTime === undefined && news.verdicts.length === 0
      ? await record.release()
      : written(
          await record.save({
            subject: poolSubject(pool),
            value: after,
            wakeTime: wakeTimeOf(decision.wakeTime, news, now),
          }),
        );
  if (turn.kind === 'done') await say(deps, decision.verdicts, news, place, { before, after });
  return turn;
}
