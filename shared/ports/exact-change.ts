/**
 * Changes of exactly the object that was looked at (I10): its UID is a precondition, and so is its version where the change rests on what was
 * read. A list is written whole, for a merge patch cannot change one entry of it: the version keeps what somebody else has added.
 */
import { RESOURCES } from '../contract/resources.ts';
import type { JsonObject, ObjectRef } from '../domain/kubernetes-object.ts';
import { RetryableError } from '../errors.ts';
import type { DeleteOutcome, KubernetesApi, WriteOutcome } from './kubernetes-api.ts';

/** The object as it is known. Without `resourceVersion` whatever version it has by now is changed. */
interface Known {
  readonly uid: string;
  readonly resourceVersion?: string;
}

const preconditions = ({ uid, resourceVersion }: Known): JsonObject => ({
  uid,
  ...(resourceVersion !== undefined && { resourceVersion }),
});

/** Fields to change; null removes one. */
export interface Change {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly finalizers?: readonly string[];
  readonly spec?: JsonObject;
  /** Status of a kind that has no subresource for it: a field like any other. */
  readonly status?: JsonObject;
}

export function changeExactly(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  ref: ObjectRef,
  known: Known,
  { spec, status, ...metadata }: Change,
): Promise<WriteOutcome> {
  const body = { metadata: { ...preconditions(known), ...metadata }, ...(spec && { spec }), ...(status && { status }) };
  return kubernetes.patch(ref, { type: 'merge', body });
}

/** Writes fields of a status. */
export function changeStatus(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  ref: ObjectRef,
  known: Known,
  status: JsonObject,
): Promise<WriteOutcome> {
  const body = { metadata: preconditions(known), status };
  return kubernetes.patch(ref, { type: 'merge', body }, { subresource: 'status' });
}

/** Writes conditions of a Node, each by its type: those of others stay, although they change all the time. */
export function changeNodeConditions(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  node: Known & { readonly name: string },
  conditions: readonly JsonObject[],
): Promise<WriteOutcome> {
  const body = { metadata: preconditions(node), status: { conditions } };
  const ref = { type: RESOURCES.Node, name: node.name };
  return kubernetes.patch(ref, { type: 'strategic', body }, { subresource: 'status' });
}

/** The object has changed: whoever wrote is to look again. One that is gone needs no change. @throws {RetryableError} */
export function throwConflict(doing: string, outcome: WriteOutcome | DeleteOutcome): void {
  if (outcome.kind === 'conflict') throw new RetryableError(`${doing}: ${outcome.message}`, { reason: 'Conflict' });
}
