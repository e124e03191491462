/**
 * Runs the passes of a pool: one at a time, at most one a second, and one for many requests. Order: claim the pass → look → reserve
 * the attempts in the pool's record (I4) → carry them out, each looked at once more → report → record what came of
 * them: a run that ends in between says it once more (I9).
 *
 * ```
 *   request ──▶ claim (underWay) ──▶ look at pool, nodes, claims ──▶ decide ──┬─ nothing to do ──▶ report, record
 *      │                                                                      └─ reserve ──▶ carry out ──▶ report, record
 *      ├─ while a pass is under way: `wanted`, and the pass sets the timer at its end
 *      └─ less than a second after the last one, or a change of a pool that holds many: the timer of the pool's record
 * ```
 */
import { addDuration, isDue, latest, type EpochMs } from '../../../shared/domain/time.ts';
import { DONE, settle } from '../../../shared/lifecycle/settle.ts';
import type { Held } from '../../../shared/lifecycle/record-codec.ts';
import { openRecord, written, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { EndedDrain } from '../actions/drain.ts';
import { NEW_POOL, poolCodec, poolRecordId, poolSubject } from '../record.ts';
import { afterChange, waitAfterChange, type Wanted, type Wants } from './burst.ts';
import { PASS_SETTLES_AFTER, PASS_SPACING, type OpenPool, type PassDeps } from './deps.ts';
import { rememberDrainEnd } from './ended-drain.ts';
import { runPass } from './one-pass.ts';
import type { PoolState } from './pool.ts';
import { wasSaid } from './say.ts';

export interface Passes {
  /** Sees to it that a pass begins at or after `since`; undefined: that one is armed. `canWait`: not at once in a calm pool. */
  ensure(pool: string | undefined, since: EpochMs | undefined, urgency?: 'canWait'): Promise<void>;
  /** The same for a node that is due since then. Answers what the passes know of it: one found it due, or one is under way that sees it. */
  take(pool: string | undefined, since: EpochMs, uid: string): Promise<Standing>;
  /**
   * The node of that name goes, or its NodeClaim changed, which may let held repairs of this pool go on. Answers whether a repair of
   * that very node is under way: the passes look at it. If not, nothing was asked for.
   */
  nodeChanged(pool: string | undefined, nodeName: string): Promise<boolean>;
  /** Something changed that may let held repairs of this pool go on. Without a record nothing is held. */
  poolChanged(pool: string | undefined): Promise<void>;
  /** A limit may let held repairs of this pool go on: a pass of its own looks, as soon as one may. */
  wake(pool: string | undefined): Promise<void>;
  /** The timer of the pool's record is due. */
  timerDue(pool: string | undefined, wakeUp: UsedWakeUp): Promise<void>;
  /** A drain has ended: if a repair of this pool asked for it, the next action follows. */
  drainEnded(pool: string | undefined, ended: EndedDrain): Promise<void>;
}

export type Standing = 'found' | 'underWay' | 'unknown';

function standingIn(state: PoolState | undefined, uid: string): Standing {
  if (state === undefined) return 'unknown';
  const { attempts, said, underWay } = state;
  if (attempts.some(({ node }) => node.uid === uid) || wasSaid(said, uid)) return 'found';
  return underWay ? 'underWay' : 'unknown';
}

/** The memories in here save reads of the store only; the pool's record decides. */
export function createPasses(deps: PassDeps): Passes {
  const open = (pool: string | undefined, wakeUp?: UsedWakeUp): OpenPool => ({
    pool,
    record: openRecord(deps, poolCodec, poolRecordId(pool), wakeUp),
  });
  /** Answers whether this run made the pass. */
  const request = async (opened: OpenPool, wants: Wants, loaded?: Held<PoolState>): Promise<boolean> => {
    const claimed = await claimPass(deps, opened, wants, loaded);
    if (claimed !== undefined) await runPass(deps, opened, claimed);
    return claimed !== undefined;
  };
  /** Passes that this process knows of: of a thousand nodes that are due at once, the first one asks the store. */
  const began = new Map<string, EpochMs>();
  /** The latest pass that this process saw under way, and when. */
  const underWay = new Map<string, { readonly passTime: EpochMs; readonly seenTime: EpochMs }>();
  return {
    async ensure(pool, since, urgency) {
      const id = poolRecordId(pool);
      const known = began.get(id);
      if (since !== undefined && known !== undefined && known >= since) return;
      await request(open(pool), state => {
        if (state === undefined) return 'pass';
        began.set(id, state.passTime);
        if (since === undefined || state.passTime >= since) return 'armed';
        return urgency === 'canWait' ? afterChange(state) : 'pass';
      });
    },
    async take(pool, since, uid) {
      const id = poolRecordId(pool);
      const known = underWay.get(id);
      const isFresh = known !== undefined && !isDue(deps.clock.now(), addDuration(known.seenTime, PASS_SPACING));
      if (isFresh && known.passTime >= since) return 'underWay';
      const opened = open(pool);
      let seen: PoolState | undefined;
      const isOwn = await request(opened, state => {
        seen = state;
        return state !== undefined && state.passTime >= since ? 'armed' : 'pass';
      });
      // Of many nodes that are due at once nearly all come while the pass of the first one is under way: they read its record once.
      if (!isOwn && seen !== undefined && seen.passTime >= since) {
        if (seen.underWay) underWay.set(id, { passTime: seen.passTime, seenTime: deps.clock.now() });
        return standingIn(seen, uid);
      }
      const held = await opened.record.load();
      return standingIn(held.kind === 'held' ? held.value : undefined, uid);
    },
    async nodeChanged(pool, nodeName) {
      const opened = open(pool);
      const held = await opened.record.load();
      if (held.kind !== 'held' || !held.value.attempts.some(({ node }) => node.name === nodeName)) return false;
      await request(opened, afterChange, held);
      return true;
    },
    async poolChanged(pool) {
      await request(open(pool), afterChange);
    },
    async wake(pool) {
      await request(open(pool), state => (state === undefined ? 'nothing' : 'timer'));
    },
    async timerDue(pool, wakeUp) {
      const opened = open(pool, wakeUp);
      const held = await opened.record.load();
      // Each pass sets the timer anew. A wake-up of an earlier setting would start one more chain of passes, for good.
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      if (armed !== wakeUp.wakeTime && (armed === undefined || !isDue(deps.clock.now(), armed))) return;
      await request(opened, state => (state === undefined ? 'nothing' : 'pass'), held);
    },
    async drainEnded(pool, ended) {
      const opened = open(pool);
      if (await rememberDrainEnd(deps, opened, ended)) await request(opened, () => 'pass');
    },
  };
}

/**
 * Answers the pool's state as it was written if this run is to make the pass; the others are served by its timer, or by a pass that
 * began before.
 *
 * @param loaded what this run has just read of the record
 */
async function claimPass(
  deps: PassDeps,
  { pool, record }: OpenPool,
  wants: Wants,
  loaded?: Held<PoolState>,
): Promise<PoolState | undefined> {
  let claimed: PoolState | undefined;
  let first = loaded;
  await settle<Held<PoolState>, Wanted>({
    what: poolRecordId(pool),
    async observe() {
      const observation = first ?? (await record.load());
      first = undefined;
      return { kind: 'here', observation };
    },
    decide: held => (held.kind === 'newer' ? 'nothing' : wants(held.kind === 'held' ? held.value : undefined)),
    async apply(wanted, held) {
      if (wanted === 'nothing' || held.kind === 'newer') return DONE;
      const state = held.kind === 'held' ? held.value : NEW_POOL;
      const now = deps.clock.now();
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      const subject = poolSubject(pool);
      // Saving also keeps a record that another run is about to close.
      if (wanted === 'armed') return written(await record.save({ subject, value: state, wakeTime: armed ?? now }));
      const diesAt = addDuration(state.passTime, PASS_SETTLES_AFTER);
      if (state.underWay && !isDue(now, diesAt)) {
        const asked = wanted === 'soon' && state.calm ? { changed: true as const } : { wanted: true as const };
        const value: PoolState = { ...state, ...asked };
        return written(await record.save({ subject, value, wakeTime: armed ?? diesAt, punctual: false }));
      }
      const canWait = wanted === 'soon' && state.underWay === undefined;
      const joined = canWait ? addDuration(now, waitAfterChange(state)) : now;
      const next = latest(addDuration(state.passTime, PASS_SPACING), joined);
      if (wanted === 'timer' || !isDue(now, next)) {
        // A timer that is due comes at once, again and again, until then.
        return written(await record.save({ subject, value: state, wakeTime: latest(now, next) }));
      }
      const wakeTime = addDuration(now, PASS_SETTLES_AFTER);
      const value: PoolState = { ...state, passTime: now, underWay: true, wanted: undefined, changed: undefined };
      const saved = await record.save({ subject, value, wakeTime, punctual: false });
      if (saved.written) claimed = value;
      return written(saved);
    },
  });
  return claimed;
}
