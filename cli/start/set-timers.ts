/** Describes the timers that were set when `npm start -- --kubeconfig` ended. */
import { toTimestamp } from '../../shared/domain/time.ts';
import { ROUND_KIND } from '../../shared/lifecycle/coalesce.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';

/** Settings are taken up in rounds, and the status of all policies (`*`) is looked at now and then: no object of the user waits for that. */
const isHousekeeping = ({ kind, name }: StoredRecord['subject']): boolean => kind === ROUND_KIND || name === '*';

/** A record without a timer, such as the configuration as it was read, waits for nothing. */
export function describeTimers(records: readonly Pick<StoredRecord, 'owner' | 'subject' | 'nextWakeTime'>[]): string {
  const waiting = records.flatMap(({ owner, subject, nextWakeTime }) =>
    nextWakeTime === undefined || isHousekeeping(subject)
      ? []
      : [`${owner} of ${subject.kind} ${subject.name} at ${toTimestamp(nextWakeTime)}`],
  );
  return waiting.length === 0 ? 'No timer was set.' : `Timers that were set: ${waiting.join(', ')}.`;
}
