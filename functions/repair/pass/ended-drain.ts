/** A drain has ended that a repair may have asked for. */
import { DONE, settle } from '../../../shared/lifecycle/settle.ts';
import type { Held } from '../../../shared/lifecycle/record-codec.ts';
import { written } from '../../../shared/lifecycle/timed-record.ts';
import type { EndedDrain } from '../actions/drain.ts';
import { poolRecordId, poolSubject } from '../record.ts';
import type { OpenPool, PassDeps } from './deps.ts';
import type { PoolState } from './pool.ts';

/** Remembers how it ended where a repair of the pool waits for it. Answers whether one does. */
export async function rememberDrainEnd(
  deps: PassDeps,
  { pool, record }: OpenPool,
  { requestId, answer }: EndedDrain,
): Promise<boolean> {
  let isOurs = false;
  await settle<Held<PoolState>, undefined>({
    what: poolRecordId(pool),
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind !== 'held') return DONE;
      const { value, stored } = held;
      isOurs = value.attempts.some(attempt => attempt.action === 'Drain' && attempt.requestId === requestId);
      if (!isOurs) return DONE;
      const attempts = value.attempts.map(attempt =>
        attempt.action === 'Drain' && attempt.requestId === requestId ? { ...attempt, answer } : attempt,
      );
      const wakeTime = stored.nextWakeTime ?? deps.clock.now();
      return written(await record.save({ subject: poolSubject(pool), value: { ...value, attempts }, wakeTime }));
    },
  });
  return isOurs;
}
