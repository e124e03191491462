/** Limits how often the clean-up of one FinalizerRule is called, whatever fails: all of its objects wait in one queue. */
import { OWNER } from '../common/context.ts';
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, type EpochMs, hours } from '../../../shared/domain/time.ts';
import { CONTENDED, RetryableError } from '../../../shared/errors.ts';
import { checkedCodec, readRecord, type RecordCodec, storedUnder } from '../../../shared/lifecycle/record-codec.ts';
import { anotherTurn, DONE, settle } from '../../../shared/lifecycle/settle.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { StoredRecord } from '../../../shared/ports/record-store.ts';
import { type CallQueue, type reserveCallTime as ReserveCallTime, withoutCall } from './rule/call-queue.ts';
import type { FinalizerRuleInForce } from '../finalizer-rules/rule/acceptance.ts';

/** The stored queue; version 1 had no `callEndTimes`. */
const schema = z.object({
  nextFreeTime: z.exactOptional(instant),
  callEndTimes: z.exactOptional(z.record(z.string(), instant)),
});

export const CALL_RATE_CODEC: RecordCodec<CallQueue> = storedUnder<CallQueue>(
  { nextFreeTime: 'taken', callEndTimes: 'running' },
  checkedCodec(OWNER, schema, 2),
);

/** The queue is kept this long after its last change. */
const KEPT_FOR = hours(24);

type Deps = Pick<FunctionDeps, 'records' | 'clock'>;

/**
 * Reserves the next call, and answers when it may be made; now, while the FinalizerRule makes few calls. Throws `RetryableError`: `Contended` when others
 * are always first, `NewerRecord` when a newer version of Curfew counts the calls.
 *
 * @param isCallDue whether the time that was reserved earlier has come by `now`, when the object was read. The time that the read of the queue
 * takes does not count. `reserveCallTime`: the rule
 */
export async function reserveCall(
  deps: Deps,
  { object, rule }: FinalizerRuleInForce,
  uid: string,
  {
    isCallDue,
    now,
    reserveCallTime,
  }: { readonly isCallDue: boolean; readonly now: EpochMs; readonly reserveCallTime: typeof ReserveCallTime },
): Promise<EpochMs> {
  let callTime = now;
  await changeQueue(deps, object, queue => {
    const next = reserveCallTime(queue, { uid, isCallDue }, rule.rateLimit, now);
    ({ callTime } = next);
    return next.queue;
  });
  return callTime;
}

/** Notes that the call has ended, and another may begin. */
export async function releaseCall(deps: Deps, { object }: FinalizerRuleInForce, uid: string): Promise<void> {
  try {
    await changeQueue(deps, object, queue => withoutCall(queue, uid));
  } catch (error) {
    // Nobody is to repeat a call because its end could not be noted down: it counts as under way until `RUN_ENDS_WITHIN` is over.
    if (!(error instanceof RetryableError) || error.reason !== CONTENDED) throw error;
  }
}

/**
 * Writes the queue that `next` makes, which is asked again after each lost race. The record is no `TimedRecord`: it needs no timer, since nothing
 * is to be done at any time.
 */
async function changeQueue(
  { records, clock }: Deps,
  rule: FinalizerRuleInForce['object'],
  next: (queue: CallQueue) => CallQueue,
): Promise<void> {
  const { metadata } = rule;
  const key = { owner: CALL_RATE_CODEC.owner, id: `rule-calls/${metadata.uid}` };
  const what = `the calls of FinalizerRule ${metadata.name}`;
  await settle<StoredRecord | undefined, CallQueue>({
    what,
    observe: async () => ({ kind: 'here', observation: await records.get(key) }),
    decide(stored) {
      const loaded = readRecord(CALL_RATE_CODEC, stored);
      if (loaded.kind === 'newer')
        throw new RetryableError(`${what} are counted by a newer version`, { reason: 'NewerRecord' });
      return next(loaded.kind === 'known' ? loaded.value : {});
    },
    async apply(queue, stored) {
      const outcome = await records.put(
        {
          ...key,
          subject: subjectOf(rule),
          state: { schemaVersion: CALL_RATE_CODEC.schemaVersion, ...CALL_RATE_CODEC.toState(queue) },
          expireTime: addDuration(clock.now(), KEPT_FOR),
        },
        stored?.version ?? 0,
      );
      return outcome.kind === 'written' ? DONE : anotherTurn('another run wrote first');
    },
  });
}
