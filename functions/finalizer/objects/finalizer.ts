/** Puts the finalizer of a FinalizerRule on an object, and takes it off: the ledger first (I1), and exactly the object that was looked at (I10). */
import type { FinalizerContext } from '../common/context.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { effortOfRestoring } from '../../../shared/domain/effort.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import { anotherTurn, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import { LEDGER_CHECK } from './decide.ts';
import { nextEntry, saveEntry } from './ledger.ts';
import type { ObservedObject } from './observe.ts';
import type { LedgerEntry } from './record.ts';
import { reportObject } from './report.ts';
import { carriesFinalizer } from '../finalizer-rules/finalizer-rule-set.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

/** Puts the finalizer of the FinalizerRule on the object; its entry in the ledger is written before. */
export async function addFinalizer(
  { deps, reporter }: FinalizerContext,
  observed: ObservedObject,
  object: KubernetesObject,
): Promise<Turn> {
  const { observation, entry, inForce, ref } = observed;
  const { now, rule } = observation;
  const { message: _, ...fields } = nextEntry(observed);
  const value: LedgerEntry = { ...fields, phase: 'finalizerAdded', attempts: 0, time: entry?.time ?? now };
  const save = (next: LedgerEntry): Promise<SaveOutcome> => saveEntry(observed, next, addDuration(now, LEDGER_CHECK));
  if (carriesFinalizer(object, inForce)) return save(value);
  // Keep the refusal in the record until the change succeeds: a run may die here.
  const { refusals } = entry ?? {};
  const saved = await save({ ...value, ...(refusals !== undefined && { refusals }) });
  if (!saved.written) return saved;
  const finalizers = [...(object.metadata.finalizers ?? []), rule.finalizerName];
  const outcome = await changeExactly(deps.kubernetes, ref, object.metadata, { finalizers });
  if (outcome.kind !== 'ok') return anotherTurn('it changed');
  await reportObject(reporter, observed, {
    decision: 'hold',
    reason: entry === undefined ? 'FinalizerAdded' : 'FinalizerRestored',
    message: `FinalizerRule ${inForce.object.metadata.name} put ${rule.finalizerName} on`,
  });
  if (entry === undefined) return saved;
  return save({ ...value, effort: effortOfRestoring(entry.effort, now) });
}

/**
 * Takes the finalizer of the FinalizerRule off.
 *
 * @returns `ok` also when there is nothing to take off any more, or the object is gone. `changed` also for one that lived when it was looked at,
 * and is being deleted by now: it needs its clean-up (I1)
 */
export async function removeFinalizer(
  { deps }: Pick<FinalizerContext, 'deps'>,
  { ref, inForce }: ObservedObject,
  object: KubernetesObject,
): Promise<'ok' | 'changed'> {
  // A condition may just have been taken off it.
  const now = objectOf(await deps.kubernetes.get(ref), { ifNotServed: 'throw' });
  const { metadata } = now?.metadata.uid === object.metadata.uid ? now : object;
  const { finalizers = [], deletionTimestamp } = metadata;
  if (deletionTimestamp !== object.metadata.deletionTimestamp) return 'changed';
  const kept = finalizers.filter(name => name !== inForce.rule.finalizerName);
  if (kept.length === finalizers.length) return 'ok';
  const outcome = await changeExactly(deps.kubernetes, ref, metadata, { finalizers: kept });
  return outcome.kind === 'conflict' ? 'changed' : 'ok';
}
