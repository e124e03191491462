/**
 * Changes of exactly the object that was looked at (I10): its UID is a precondition, and so is its version where the change rests on what was
 * read. A list is written whole, for a merge patch cannot change one entry of it: the version keeps what somebody else has added.
 */
import type { JsonObject, ObjectRef } from '../domain/kubernetes-object.ts';
import { RetryableError } from '../errors.ts';
import type { DeleteOutcome, KubernetesApi, WriteOutcome } from './kubernetes-api.ts';

/** The fields to change; null removes one. */
export interface Change {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly finalizers?: readonly string[];
  readonly spec?: JsonObject;
}

/** @param known without `resourceVersion` whatever version the object has by now is changed */
export function changeExactly(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  ref: ObjectRef,
  { uid, resourceVersion }: { readonly uid: string; readonly resourceVersion?: string },
  { spec, ...metadata }: Change,
): Promise<WriteOutcome> {
  const known = { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  const body = { metadata: { ...known, ...metadata }, ...(spec !== undefined && { spec }) };
  return kubernetes.patch(ref, { type: 'merge', body });
}

/** The object has changed: whoever wrote is to look again. One that is gone needs no change. @throws {RetryableError} */
export function throwConflict(doing: string, outcome: WriteOutcome | DeleteOutcome): void {
  if (outcome.kind === 'conflict') throw new RetryableError(`${doing}: ${outcome.message}`, { reason: 'Conflict' });
}
