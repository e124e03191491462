/** Limits how often the clean-up of one FinalizerRule is called, whatever fails: all of its objects share the slots of one queue. */
import { OWNER } from '../common/context.ts';
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, type EpochMs } from '../../../shared/domain/time.ts';
import { CONTENDED, RetryableError } from '../../../shared/errors.ts';
import { checkedCodec, storedUnder, readRecord, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { anotherTurn, DONE, settle } from '../../../shared/lifecycle/settle.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { StoredRecord } from '../../../shared/ports/record-store.ts';
import { type CallQueue, freeCallSlot, type takeCallSlot as TakeSlot } from './rule/call-queue.ts';
import type { FinalizerRuleInForce } from '../finalizer-rules/decide.ts';

/** The stored queue; version 1 had no `callEndTimes`. */
const schema = z.object({
  nextSlotTime: z.exactOptional(instant),
  callEndTimes: z.exactOptional(z.record(z.string(), instant)),
});

export const CALL_RATE_CODEC: RecordCodec<CallQueue> = storedUnder<CallQueue>(
  { nextSlotTime: 'taken', callEndTimes: 'running' },
  checkedCodec(OWNER, schema, 2),
);

type Deps = Pick<FunctionDeps, 'records' | 'clock'>;

/**
 * Takes the next slot, and answers when its turn is; now, while the FinalizerRule makes few calls. Throws `RetryableError`: `Contended` when others
 * are always first, `NewerRecord` when a newer version of Curfew counts the calls.
 *
 * @param isSlotDue whether the slot that the object took earlier has come by `now`, the time at which the object was read. The time that the
 * read of the queue takes does not count. `takeCallSlot`: the rule
 */
export async function reserveCall(
  deps: Deps,
  { object, rule }: FinalizerRuleInForce,
  uid: string,
  {
    isSlotDue,
    now,
    takeCallSlot,
  }: { readonly isSlotDue: boolean; readonly now: EpochMs; readonly takeCallSlot: typeof TakeSlot },
): Promise<EpochMs> {
  let slot = now;
  await changeQueue(deps, object, queue => {
    const next = takeCallSlot(queue, { uid, isSlotDue }, rule.rateLimit, now);
    ({ slot } = next);
    return next.queue;
  });
  return slot;
}

/** Notes that the call has ended, and another may begin. */
export async function releaseCall(deps: Deps, { object }: FinalizerRuleInForce, uid: string): Promise<void> {
  try {
    await changeQueue(deps, object, queue => freeCallSlot(queue, uid));
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
          expireTime: addDuration(clock.now(), hours(24)),
        },
        stored?.version ?? 0,
      );
      return outcome.kind === 'written' ? DONE : anotherTurn('another run wrote first');
    },
  });
}
