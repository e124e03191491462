/** How often the clean-up of one rule is called, whatever fails: places in a queue that all of its objects share. */
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { addDuration, hours, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { checkedCodec, readRecord, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { endCall, takeSlot, type CallQueue } from './decide.ts';
import type { RuleInForce } from './rule-set.ts';

const TRIES = 5;

/** Version 1 had no `running`. */
const schema = z.object({
  taken: z.exactOptional(instant),
  running: z.exactOptional(z.record(z.string(), instant)),
});

export const CALL_RATE_CODEC: RecordCodec<z.output<typeof schema>> = checkedCodec('finalizer', schema, 2);

type Deps = Pick<FunctionDeps, 'records' | 'clock'>;

/**
 * Takes the next place and answers when its turn is; now, while the rule makes few calls. Throws `RetryableError`: `Contended` when
 * others are always first, `NewerRecord` when a newer version of Curfew counts the calls.
 *
 * @param isPlaced the place that the object had taken before has come
 */
export async function reserveCall(
  deps: Deps,
  { object, rule }: RuleInForce,
  uid: string,
  isPlaced: boolean,
): Promise<EpochMs> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const now = deps.clock.now();
    let slot = now;
    const isWritten = await change(deps, object, queue => {
      const taken = takeSlot(queue, { uid, isPlaced }, rule.rateLimit, now);
      slot = taken.slot;
      return taken.queue;
    });
    if (isWritten) return slot;
  }
  throw new RetryableError(`FinalizerRule ${object.metadata.name} has many calls at ${toTimestamp(deps.clock.now())}`, {
    reason: 'Contended',
  });
}

/** The call has ended, and another may begin. One that is not noted down counts as under way for a minute. */
export async function callEnded(deps: Deps, { object }: RuleInForce, uid: string): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (await change(deps, object, queue => endCall(queue, uid))) return;
  }
}

async function change(
  { records, clock }: Deps,
  { kind, apiVersion, metadata }: RuleInForce['object'],
  next: (queue: CallQueue) => CallQueue,
): Promise<boolean> {
  const key = { owner: CALL_RATE_CODEC.owner, id: `rule-calls/${metadata.uid}` };
  const stored = await records.get(key);
  const held = readRecord(CALL_RATE_CODEC, stored);
  if (held.kind === 'newer') {
    const message = `the calls of FinalizerRule ${metadata.name} are counted by a newer version`;
    throw new RetryableError(message, { reason: 'NewerRecord' });
  }
  const queue = next(held.kind === 'held' ? held.value : {});
  const outcome = await records.put(
    {
      ...key,
      subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
      state: { schemaVersion: CALL_RATE_CODEC.schemaVersion, ...CALL_RATE_CODEC.toState(queue) },
      expireTime: addDuration(clock.now(), hours(24)),
    },
    stored?.version ?? 0,
  );
  return outcome.kind === 'written';
}
