/** How often the clean-up of one rule is called, whatever fails: places in a queue that all of its objects share. */
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { addDuration, hours, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { readRecord, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { checkedCodec } from '../checked-codec.ts';
import { takeSlot } from './decide.ts';

const schema = z.object({ taken: instant });

export const CALL_RATE_CODEC: RecordCodec<z.output<typeof schema>> = checkedCodec(schema, 1);

const TRIES = 5;

/**
 * Takes the next place and answers when its turn is; now, while the rule makes few calls. Throws `RetryableError`: `Contended` when
 * others are always first, `NewerRecord` when a newer version of Curfew counts the calls.
 */
export async function reserveCall(
  { records, clock }: Pick<FunctionDeps, 'records' | 'clock'>,
  rule: KubernetesObject,
): Promise<EpochMs> {
  const { kind, apiVersion, metadata } = rule;
  const key = { owner: CALL_RATE_CODEC.owner, id: `rule-calls/${metadata.uid}` };
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const now = clock.now();
    const stored = await records.get(key);
    const held = readRecord(CALL_RATE_CODEC, stored);
    if (held.kind === 'newer') {
      const message = `the calls of FinalizerRule ${metadata.name} are counted by a newer version`;
      throw new RetryableError(message, { reason: 'NewerRecord' });
    }
    const { slot, taken } = takeSlot(held.kind === 'held' ? held.value.taken : undefined, now);
    const outcome = await records.put(
      {
        ...key,
        subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
        state: { schemaVersion: CALL_RATE_CODEC.schemaVersion, ...CALL_RATE_CODEC.toState({ taken }) },
        expireTime: addDuration(now, hours(24)),
      },
      stored?.version ?? 0,
    );
    if (outcome.kind === 'written') return slot;
  }
  throw new RetryableError(`FinalizerRule ${metadata.name} has many calls at ${toTimestamp(clock.now())}`, {
    reason: 'Contended',
  });
}
