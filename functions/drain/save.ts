/** Writes the record of a node's drains together with its timer. */
import { subjectOf } from '../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, type EpochMs } from '../../shared/domain/time.ts';
import type { RecordToSave } from '../../shared/lifecycle/timed-record.ts';
import { forgetPods } from '../../shared/pods/drain-pods.ts';
import type { ObservedDrain, ObservedNode } from './observe.ts';
import type { DrainRecord } from './record.ts';

/** Writes record and timer together. @param how as in `RecordToSave` */
export function save(
  observed: ObservedNode,
  record: DrainRecord,
  wakeTime: EpochMs,
  how: Pick<RecordToSave<DrainRecord>, 'hasOwnMessage' | 'redeliveryError'> = {},
) {
  const { refusals: stored, ...fields } = record;
  forgetPods(observed.backoff, stored, record.active === undefined || observed.kind === 'idle' ? [] : observed.pods);
  const refusals = observed.backoff.refusalsAfter(stored);
  return observed.timedRecord.save({
    subject: subjectOf(observed.object),
    value: { ...fields, ...(refusals !== undefined && { refusals }) },
    wakeTime,
    ...how,
  });
}

/** Writes record and timer while this run goes on. Should it die, the sweep finds the timer. */
export const saveForSweep = (observed: ObservedNode, value: DrainRecord) =>
  save(observed, value, addDuration(observed.now, RUN_ENDS_WITHIN), { hasOwnMessage: false });

/** The observation once a turn has written this record by `saveForSweep`. */
export const withSaved = (observed: ObservedDrain, record: DrainRecord): ObservedDrain => ({
  ...observed,
  record,
  armed: addDuration(observed.now, RUN_ENDS_WITHIN),
});

/** Writes record and timer. A timer that is only a little early is kept: it costs less than to look again because it was put off (T4). */
export function saveUntil(observed: ObservedNode, value: DrainRecord, wakeTime: EpochMs) {
  const { armed, now } = observed;
  const keeps =
    armed !== undefined && armed > now && armed < wakeTime && wakeTime <= addDuration(armed, RUN_ENDS_WITHIN);
  return keeps ? save(observed, value, armed, { hasOwnMessage: false }) : save(observed, value, wakeTime);
}
