/** Preconditions: what a write says about the state that it was made for. */
import type { JsonObject } from '../json.ts';
import { show, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { Target } from '../server-context.ts';
import { resourceOf } from '../server-context.ts';
import { MODIFIED, conflict, invalid, serverRefused } from '../status-errors.ts';
import type { ApiStatusError, Preconditions } from '../types.ts';
import { storageKey } from './storage-key.ts';

/**
 * `resourceVersion` in what is written is the version that it was made from; `uid` in a PUT is the object that it was made for.
 * (A uid in a patch is a change of the uid, which validation refuses.)
 * @throws ApiStatusError 409; 422 when the resource wants a resourceVersion and none was sent
 */
export function checkWritePreconditions(target: Target, current: JsonObject, sent: JsonObject, isPut: boolean): void {
  const { served, name } = target;
  const stored = metadataOf(current);
  if (sent === stored) return;
  const uid = textAt(sent, 'uid') ?? '';
  if (isPut && uid !== '' && uid !== stored.uid) throw uidConflict(target, uid, show(stored.uid));
  const version = textAt(sent, 'resourceVersion') ?? '';
  // Zero stands for no version, everywhere.
  const isUnconditional = version === '' || version === '0';
  if (isUnconditional && !served.rules.unconditionalUpdate) {
    const message = 'Invalid value: 0: must be specified for an update';
    const cause = { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message };
    // The refusal names the resource where others name the kind, as kube-apiserver does here.
    throw invalid(resourceOf(served), name, [cause]);
  }
  if (!/^\d*$/.test(version))
    throw serverRefused(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  if (!isUnconditional && version !== stored.resourceVersion) throw conflict(resourceOf(served), name, MODIFIED);
}

/** 409 for a PUT that was meant for another object of that name. */
export function uidConflict(target: Target, sent: string, stored: string): ApiStatusError {
  const why = `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`;
  return conflict(
    resourceOf(target.served),
    target.name,
    `StorageError: invalid object, Code: 4, Key: ${storageKey(target)}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

/** @throws ApiStatusError 409 when the object to delete is another one or has changed */
export function checkDeletePreconditions(
  { served, name }: Target,
  current: JsonObject,
  preconditions: Preconditions | undefined,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const stored = metadataOf(current);
  const refuse = (what: string, sent: string, record: JsonObject[string], guess: string) =>
    conflict(
      { group: served.info.group, name: served.info.kind },
      name,
      `the ${what} in the precondition (${sent}) does not match the ${what} in record (${show(record)}). The object might have been ${guess}`,
    );
  if (uid !== undefined && uid !== stored.uid) throw refuse('UID', uid, stored.uid, 'deleted and then recreated');
  if (resourceVersion !== undefined && resourceVersion !== stored.resourceVersion) {
    throw refuse('ResourceVersion', resourceVersion, stored.resourceVersion, 'modified');
  }
}
