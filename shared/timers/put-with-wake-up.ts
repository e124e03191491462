/**
 * Writes a record with its next wake-up time. State and timer are one write; a wake-up that is less than 15 minutes away is also
 * sent straight to the owner's inbox, which makes it punctual. If that send is lost the minute sweep finds the record (ADR 0001).
 */
import { durationBetween, seconds, toDurationMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { MAX_DELAY_SECONDS, type WakeUp } from '../ports/inbox.ts';
import type { NewRecord, PutOutcome } from '../ports/record-store.ts';

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

export async function putWithWakeUp(deps: Deps, record: NewRecord, expectedVersion: number): Promise<PutOutcome> {
  const outcome = await deps.records.put(record, expectedVersion);
  const { owner, subject, nextWakeTime } = record;
  if (outcome.kind === 'written' && nextWakeTime !== undefined) {
    await sendWakeUp(deps, { owner, subject, wakeTime: nextWakeTime });
  }
  return outcome;
}

/** Sends a wake-up straight to its owner's inbox when it is near enough; further ones are the minute sweep's. */
export async function sendWakeUp({ wakeUps, clock }: Pick<Deps, 'wakeUps' | 'clock'>, wakeUp: WakeUp): Promise<void> {
  const delay = toDurationMs(Math.max(0, durationBetween(clock.now(), wakeUp.wakeTime)));
  if (delay <= seconds(MAX_DELAY_SECONDS)) await wakeUps.send([{ wakeUp, delay }]);
}
