/** The passes of pools: one at a time for each, spaced, many requests in one (`shared/lifecycle/coalesce.ts`). */
import type { Subject } from '../../shared/contract/subject.ts';
import { isDue, seconds } from '../../shared/domain/time.ts';
import { createCoalescer, ROUND_KIND } from '../../shared/lifecycle/coalesce.ts';
import { openRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { ANY } from './asks.ts';
import type { PassDeps } from './deps.ts';
import { runPass } from './pass.ts';
import { OWNER, poolCodec, poolOfSubject, poolRecordId, poolSubject } from './record.ts';

export interface Passes {
  /** Sees to it that a pass of the pool looks from now on. @param ask what for (`asks.ts`) */
  ask(pool: string | undefined, ask: string): Promise<void>;
  /** The timer of the pool's record is due. */
  timerDue(pool: string | undefined, wakeUp: UsedWakeUp): Promise<void>;
  /** The timer of the coalescer is due: a pass waits for its turn, or one has died. */
  roundDue(pool: string | undefined, wakeUp: UsedWakeUp): Promise<void>;
}

/** Two passes of one pool are so far apart at least. */
const PASS_SPACING = seconds(1);
const PREFIX = 'pass/';

/** The pool that a wake-up of a coalescer is about; undefined: it is none of passes. */
export function passOfSubject({
  kind,
  name,
}: Pick<Subject, 'kind' | 'name'>): { readonly pool: string | undefined } | undefined {
  if (kind !== ROUND_KIND || !name.startsWith(PREFIX)) return undefined;
  return { pool: poolOfSubject({ name: name.slice(PREFIX.length) }) };
}

export function createPasses(deps: PassDeps): Passes {
  const coalescerOf = (pool: string | undefined) =>
    createCoalescer(deps, {
      owner: OWNER,
      name: `${PREFIX}${poolSubject(pool).name}`,
      spacing: PASS_SPACING,
      run: scopes => runPass({ ...deps, ask }, pool, scopes),
    });
  const ask = async (pool: string | undefined, what: string): Promise<void> => {
    await coalescerOf(pool).request([what]);
  };
  return {
    ask,
    async timerDue(pool, wakeUp) {
      const held = await openRecord(deps, poolCodec, poolRecordId(pool)).load();
      // Each pass sets the timer anew. A wake-up of an earlier setting would start one more chain of passes, for good.
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      if (
        held.kind !== 'held' ||
        (armed !== wakeUp.wakeTime && (armed === undefined || !isDue(deps.clock.now(), armed)))
      )
        return;
      await ask(pool, ANY);
    },
    roundDue: (pool, wakeUp) => coalescerOf(pool).timerDue(wakeUp),
  };
}
