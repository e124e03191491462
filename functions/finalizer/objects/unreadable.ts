/**
 * An object that cannot be read, for its kind may not be or the API server fails: remembered in its entry and said on the object, as a change that
 * is refused. Nothing is done to it (I6).
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject } from '../../../shared/contract/subject.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { isRefusal, reportWarning } from '../../../shared/lifecycle/refusals.ts';
import type { Observed } from '../../../shared/lifecycle/settle.ts';
import { orNotKnown } from '../../../shared/ports/read-answer.ts';
import type { ObjectRunContext } from './context.ts';
import { observe, type ObservedObject, type TargetObject } from './observe.ts';

/** Looks at the object once. `over`: it cannot be read, and is looked at again at a time of its own. */
export async function observeIfReadable(
  context: ObjectRunContext,
  sought: TargetObject,
): Promise<Observed<ObservedObject>> {
  const looked = await orNotKnown(observe(context.deps, sought));
  if (looked.kind !== 'notKnown') return looked;
  await noteUnreadable(context, sought, looked.error);
  return { kind: 'over' };
}

async function noteUnreadable(
  { tries, reporter, answer }: ObjectRunContext,
  { record }: TargetObject,
  error: RetryableError | Error,
): Promise<void> {
  if (!(error instanceof RetryableError)) throw error;
  const loaded = await record.load();
  if (loaded.kind !== 'known') throw error;
  const { value, stored } = loaded;
  const { subject } = stored;
  const report = reportWarning(reporter, aboutSubject(subject), EVENT_REASONS.finalizationError, 'retry');
  const read = { key: 'read', stored: value.refusals, restsOn: [], report };
  const outcome = await tries.make(read, () => Promise.reject(error));
  if (!isRefusal(outcome)) throw error;
  const refusals = tries.after(value.refusals);
  const { until: wakeTime, redeliveryError } = outcome;
  const next = { ...value, ...(refusals !== undefined && { refusals }) };
  const saved = await record.save({ subject, value: next, wakeTime, redeliveryError });
  // An answer of a worker is in no record yet (I9).
  if (!saved.written || answer !== undefined) throw error;
}
