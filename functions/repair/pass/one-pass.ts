/** One pass of a pool: look, decide, reserve, carry out, report, record what came of it. */
import { isDeepStrictEqual } from 'node:util';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { written } from '../../../shared/lifecycle/timed-record.ts';
import type { PoolRules } from '../observation.ts';
import { loadCluster, loadEpisodes, loadRules, type ClusterView } from '../observe.ts';
import { NEW_POOL, poolRecordId, poolSubject } from '../record.ts';
import { openShare, type Share } from '../limits/reserve.ts';
import type { Place } from '../report.ts';
import { acceptedSince, underWayOf } from './attempts.ts';
import { carryOut } from './carry-out.ts';
import type { PassDecision, PassObservation } from './decision.ts';
import { PASS_SETTLES_AFTER, type OpenPool, type PassDeps } from './deps.ts';
import { withIntents } from './intents.ts';
import { concluded, ended, inquire, recordOutcomes, sayForDeadRuns, wakeTimeAfter } from './outcomes.ts';
import type { PoolState, RepairAttempt } from './pool.ts';
import { stepAside } from './step-aside.ts';
import { count, newsOf, say, wakeTimeOf } from './say.ts';
import { takeBack } from './take-back.ts';

/** What a pass has seen and decided before it changes anything. */
interface Seen {
  /** As it was read; undefined: there was no record. */
  readonly read: PoolState | undefined;
  /** The same by what was asked about its attempts. */
  readonly state: PoolState;
  /** Attempts of runs that ended before they could say so: seen to have taken place, by the objects or by what was asked. */
  readonly found: readonly RepairAttempt[];
  readonly rules: PoolRules;
  readonly episodes: PassObservation['episodes'];
  readonly claims: ClusterView['claims'];
  readonly decision: PassDecision;
  /** Where some policy limits the repairs of zone or cluster. */
  readonly share: Share | undefined;
}

/** How far this run of the pass has come. */
interface Run {
  /** What this run has reported. */
  readonly told: Set<string>;
  readonly isFirstLook: boolean;
}

/** @param claimed the state with which this run has just claimed the pass */
export async function runPass(deps: PassDeps, opened: OpenPool, claimed: PoolState): Promise<void> {
  try {
    await lookAndAct(deps, opened, claimed);
  } catch (error) {
    await stepAside(deps, opened, claimed.passTime);
    throw error;
  }
}

async function lookAndAct(deps: PassDeps, opened: OpenPool, claimed: PoolState): Promise<void> {
  const { passTime } = claimed;
  let looks = 0;
  const told = new Set<string>();
  await settle<Seen, undefined>({
    what: poolRecordId(opened.pool),
    async observe() {
      looks += 1;
      // What another run writes after the claim makes the next write fail.
      const current = looks === 1 ? claimed : await loadUnlessOver(opened.record, passTime);
      const seen = current === 'over' ? 'over' : await look(deps, opened.pool, current, passTime);
      return seen === 'over' ? { kind: 'over' } : { kind: 'here', observation: seen };
    },
    decide: () => undefined,
    apply: (_, seen) => act(deps, opened, seen, { told, isFirstLook: looks === 1 }),
  });
}

/** The state as it is by now; undefined: there is no record. A later pass sees all that this one would. */
async function loadUnlessOver(record: OpenPool['record'], passTime: EpochMs): Promise<PoolState | 'over' | undefined> {
  const held = await record.load();
  if (held.kind === 'none') return undefined;
  return held.kind === 'newer' || held.value.passTime > passTime ? 'over' : held.value;
}

/** Looks at pool, nodes and claims, and decides. `over`: a newer version of this function works on the limits. */
async function look(
  deps: PassDeps,
  pool: string | undefined,
  current: PoolState | undefined,
  passTime: EpochMs,
): Promise<Seen | 'over'> {
  // Requests for another pass from before the look are served by this one.
  const { wanted: _, changed: __, ...before } = current ?? { ...NEW_POOL, passTime };
  const [rules, cluster] = await inParallel([loadRules(deps, pool), loadCluster(deps)]);
  const episodes = await loadEpisodes(deps, rules.rules, cluster.nodes);
  const { limits, mode } = rules.rules;
  const share = limits && (await openShare(deps, { pool, limits, isObserving: mode === 'Observe', cluster }));
  if (share === 'newer') return 'over';
  const attempts = await inquire(deps, before.attempts, cluster.nodes, deps.clock.now());
  const state = { ...before, attempts };
  const now = deps.clock.now();
  const concurrent = share?.concurrent;
  const decision = deps.decidePass({ now, pool, rules: rules.rules, ...cluster, episodes, state, concurrent });
  const found = [...decision.found, ...acceptedSince(before.attempts, attempts)];
  return { read: current && before, state, found, rules, episodes, claims: cluster.claims, decision, share };
}

/** Says what dead runs left unsaid, takes back what is not wanted any more, and carries out what was granted. */
async function act(deps: PassDeps, opened: OpenPool, seen: Seen, run: Run): Promise<Turn> {
  const { state, rules, claims } = seen;
  const { pool } = opened;
  const { told } = run;
  const place: Place = { pool, source: rules.rules.source, settings: rules.rules.settings };
  await sayForDeadRuns(deps, { lost: seen.decision.lost, found: seen.found }, { place, rules, told });
  const isAnythingLeft = seen.decision.withdrawals.length > 0 || state.left !== undefined;
  const taken = isAnythingLeft ? await takeBack(deps, seen.decision, { claims, place, told }) : seen.decision;
  const isMaking = taken.state.attempts.some(
    ({ action, phase }) => action === 'CustomResource' && phase === 'intended',
  );
  const decision = isMaking ? await withIntents(deps, taken, { pool, rules: rules.rules, claims }) : taken;
  const granted = decision.verdicts.flatMap(verdict => (verdict.kind === 'repair' ? verdict : []));
  if (granted.length === 0) return conclude(deps, opened, { ...seen, decision }, run);
  return reserveAndCarryOut(deps, opened, { ...seen, decision, granted, place }, told);
}

type SeenGranted = Seen & { readonly granted: Parameters<typeof carryOut>[1]; readonly place: Place };

/** Reserves the granted attempts, in the limits and in the pool's record (I4), carries them out, and records what came of them. */
async function reserveAndCarryOut(
  deps: PassDeps,
  opened: OpenPool,
  { decision, granted, place, ...seen }: SeenGranted,
  told: Set<string>,
): Promise<Turn> {
  const { state, rules, claims, episodes, share } = seen;
  const attempts = granted.map(({ attempt }) => attempt);
  const isFree = (await share?.reserve(decision, attempts)) ?? true;
  if (!isFree) return again('others took the places that the pass had granted');
  const wakeTime = addDuration(deps.clock.now(), PASS_SETTLES_AFTER);
  const reserved = await saveDecided(opened, seen.read, asked => ({
    value: { ...decision.state, said: state.said, ...asked },
    wakeTime,
    punctual: false,
  }));
  if (!reserved.written) return again('the pool changed before its attempts were reserved');
  const isShared = share !== undefined;
  const context = { pool: opened.pool, place, episodes, rules, claims, isCounted: isShared };
  const carried = await carryOut(deps, granted, context);
  const after = await recordOutcomes(deps, opened, { decision, state, told, place, isShared }, carried);
  if (after !== undefined) {
    await share?.settle(decision, underWayOf(after.attempts, rules.rules.settings, deps.clock.now()));
  }
  const failure = carried.find(({ outcome }) => outcome.kind === 'unknown');
  if (failure?.outcome.kind === 'unknown') throw failure.outcome.error;
  return DONE;
}

/** Nothing was granted: what holds is said and recorded; a pool in which nothing is due or under way is closed. */
async function conclude(
  deps: PassDeps,
  opened: OpenPool,
  { decision, read, state: before, rules, share }: Seen,
  { told, isFirstLook }: Run,
): Promise<Turn> {
  const now = deps.clock.now();
  const news = newsOf(decision.verdicts, decision.state.said, now);
  const after = concluded({ ...decision.state, said: news.said }, share !== undefined);
  const place: Place = { pool: opened.pool, source: rules.rules.source, settings: rules.rules.settings };
  await say(deps, decision.verdicts, news, { place, told });
  const finish = async (turn: Turn): Promise<Turn> => {
    if (turn.kind === 'done') await count(deps, decision.verdicts, place, { before, after });
    return turn;
  };
  if (decision.wakeTime === undefined && news.verdicts.length === 0 && share?.isHeld !== true) {
    const closed = await opened.record.release();
    if (closed.kind === 'done' || isFirstLook) return finish(closed);
    // Others need the record: it is closed when they do not any more.
  }
  const saved = await saveDecided(opened, read, asked => ({
    value: after,
    wakeTime: wakeTimeAfter(wakeTimeOf(decision.wakeTime, news, now), { ...after, ...asked }, now),
  }));
  if (saved.written) await share?.settle(decision, underWayOf(after.attempts, rules.rules.settings, now));
  return finish(written(saved));
}

/** What was asked for while the pass was under way. */
type Asked = Pick<PoolState, 'wanted' | 'changed'>;
type Decided = Omit<Parameters<OpenPool['record']['save']>[0], 'subject'>;

/** Writes what the pass decided. A request that came meanwhile is no reason to look again, for another pass follows. */
async function saveDecided(
  { pool, record }: OpenPool,
  read: PoolState | undefined,
  decided: (asked: Asked) => Decided,
): ReturnType<OpenPool['record']['save']> {
  const subject = poolSubject(pool);
  const saved = await record.save({ subject, ...decided({}) });
  if (saved.written || read === undefined) return saved;
  const held = await record.load();
  if (held.kind !== 'held' || !isDeepStrictEqual(ended(held.value), ended(read))) return saved;
  return record.save({ subject, ...decided({ wanted: held.value.wanted, changed: held.value.changed }) });
}
