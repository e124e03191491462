/**
 * The timer of the record of all pools: wakes the pools that wait for what has ended, compares the reservations with the records of
 * their pools every two minutes, and closes the record when nothing is left in it.
 */
import { addDuration, isDue, type EpochMs } from '../../../shared/domain/time.ts';
import { again, DONE, settle } from '../../../shared/lifecycle/settle.ts';
import type { Held } from '../../../shared/lifecycle/record-codec.ts';
import { openRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { loadAcceptedPolicies, type ObserveDeps } from '../observe.ts';
import type { Passes } from '../pass/run.ts';
import {
  CHECK_EVERY,
  freedIn,
  isEmpty,
  RESERVATION_SETTLES_AFTER,
  timerOf,
  WAITING_COUNTS_FOR,
  wokenBy,
  type ConcurrentRepairs,
  type Reservation,
} from './concurrent.ts';
import { CONCURRENT_REPAIRS, CONCURRENT_REPAIRS_ID, concurrentRepairsCodec } from './record.ts';
import { attemptsOf, type LimitDeps } from './reserve.ts';

type Deps = ObserveDeps & LimitDeps & { readonly passes: Pick<Passes, 'wake'> };

/** The timer of the record is due: repairs that have ended give their places back, and pools that wait are woken. */
export async function concurrentRepairsDue(deps: Deps, wakeUp: UsedWakeUp): Promise<void> {
  const record = openRecord(deps, concurrentRepairsCodec, CONCURRENT_REPAIRS_ID, wakeUp);
  await settle<Held<ConcurrentRepairs>, undefined>({
    what: CONCURRENT_REPAIRS_ID,
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind !== 'held') return DONE;
      const now = deps.clock.now();
      const { value } = held;
      const isCheck = isDue(now, value.checkTime);
      if (!isCheck && value.freed.length === 0) return DONE;
      if (isCheck && !(await hasLimits(deps))) return record.release();
      const checked = isCheck ? await checkedAt(deps, value, now) : value;
      for (const pool of wokenBy(checked)) await deps.passes.wake(pool);
      const next = { ...checked, freed: [] };
      if (isEmpty(next)) return record.release();
      const saved = await record.save({ subject: CONCURRENT_REPAIRS, value: next, ...timerOf(next, now) });
      // The run that wrote in between may have freed more.
      return saved.written ? DONE : again('another run wrote first');
    },
  });
}

/** The record ends with the last limit; the next one counts again. */
async function hasLimits(deps: ObserveDeps): Promise<boolean> {
  const { policies } = await loadAcceptedPolicies(deps);
  return policies.some(({ object }) => object.spec?.['repairLimits'] !== undefined);
}

/** Without what no pool needs: its run died, or its record has ended. */
async function checkedAt(deps: LimitDeps, value: ConcurrentRepairs, now: EpochMs): Promise<ConcurrentRepairs> {
  const reservations: Reservation[] = [];
  for (const [pool, own] of Map.groupBy(value.reservations, each => each.pool)) {
    const uids = new Set((await attemptsOf(deps, pool)).map(({ node }) => node.uid));
    const isNeeded = ({ uid, since }: Reservation): boolean =>
      uids.has(uid) || !isDue(now, addDuration(since, RESERVATION_SETTLES_AFTER));
    reservations.push(...own.filter(isNeeded));
  }
  const waiting = value.waiting.filter(({ since }) => !isDue(now, addDuration(since, WAITING_COUNTS_FOR)));
  const checked = { ...value, reservations, waiting, checkTime: addDuration(now, CHECK_EVERY) };
  return { ...checked, freed: freedIn(value, checked) };
}
