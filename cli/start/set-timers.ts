/** What was still to come when `npm start -- --kubeconfig` ended. */
import { toTimestamp } from '../../shared/domain/time.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';

/** A record without a timer, such as the configuration as it was read, waits for nothing. */
export function describeTimers(records: readonly Pick<StoredRecord, 'owner' | 'subject' | 'nextWakeTime'>[]): string {
  const waiting = records.flatMap(({ owner, subject, nextWakeTime }) =>
    nextWakeTime === undefined ? [] : [`${owner} of ${subject.kind} ${subject.name} at ${toTimestamp(nextWakeTime)}`],
  );
  return waiting.length === 0 ? 'No timer was set.' : `Timers that were set: ${waiting.join(', ')}.`;
}
