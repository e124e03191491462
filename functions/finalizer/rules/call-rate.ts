/** How often the clean-up of one rule is called, whatever fails: places in a queue that all of its objects share. */
import { addDuration, hours, toEpochMs, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { takeSlot } from './decide.ts';

const TRIES = 5;

/**
 * Takes the next place and answers when its turn is; now, while the rule makes few calls. Throws `RetryableError` (`Contended`) when
 * others are always first.
 */
export async function reserveCall(
  { records, clock }: Pick<FunctionDeps, 'records' | 'clock'>,
  rule: KubernetesObject,
): Promise<EpochMs> {
  const { kind, apiVersion, metadata } = rule;
  const key = { owner: 'finalizer', id: `rule-calls/${metadata.uid}` } as const;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const now = clock.now();
    const stored = await records.get(key);
    const before = stored?.state['taken'];
    const { slot, taken } = takeSlot(typeof before === 'number' ? toEpochMs(before) : undefined, now);
    const outcome = await records.put(
      {
        ...key,
        subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
        state: { schemaVersion: 1, taken },
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
