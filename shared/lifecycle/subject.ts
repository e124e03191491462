/**
 * Finds the object that a message is about. A message names it by name and by UID, and one of the two may be wrong. So before a record is
 * closed, the object with the name in the record is read as well (I10).
 */
import type { Subject } from '../contract/subject.ts';
import type { KubernetesObject, ObjectRef } from '../domain/kubernetes-object.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { objectOf } from '../ports/read-answer.ts';
import type { LoadedRecord } from './record-codec.ts';
import type { TimedRecord } from './timed-record.ts';

export type FoundSubject<Value> =
  | {
      readonly kind: 'here';
      readonly object: KubernetesObject;
      readonly timedRecord: TimedRecord<Value>;
      readonly loaded: Exclude<LoadedRecord<Value>, { kind: 'newer' }>;
    }
  | GoneSubject<Value>
  /** Nothing to do: no object and no record, nothing new for the record, or a record of a newer version (T5). */
  | { readonly kind: 'nothing' };

/** No object with that UID, and a record of it: to be closed. */
export interface GoneSubject<Value> {
  readonly kind: 'gone';
  readonly timedRecord: TimedRecord<Value>;
  readonly value: Value;
  readonly subject: Subject;
}

/** A subject with everything that its concern observes, or why there is nothing to observe. */
export type Lookup<Observation, Value> =
  { readonly kind: 'here'; readonly observation: Observation } | Exclude<FoundSubject<Value>, { kind: 'here' }>;

export interface SubjectQuery<Value> {
  readonly ref: ObjectRef;
  /** Absent: whichever object has the name. */
  readonly uid: string | undefined;
  /** The record of the object with this UID; the same one each time within a run. */
  readonly timedRecordOf: (uid: string) => TimedRecord<Value>;
  /** Leaves the object unread if it has no record: the change matters only to what is remembered. */
  readonly onlyIfKnown?: boolean | undefined;
  /** Leaves the object unread if true for the value of its record. */
  readonly isUnchanged?: ((value: Value) => boolean) | undefined;
}

/**
 * Reads the record before the object, so that the object is never older than the record. If the message lacks the UID, the object is read
 * first, and once more if there is a record.
 */
export async function findSubject<Value>(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  { ref, uid, timedRecordOf, onlyIfKnown = false, isUnchanged = () => false }: SubjectQuery<Value>,
): Promise<FoundSubject<Value>> {
  const read = async (name: string): Promise<KubernetesObject | undefined> =>
    objectOf(await kubernetes.get({ ...ref, name }), { ifNotServed: 'throw' });
  if (uid === undefined) {
    const object = await read(ref.name);
    if (object === undefined) return { kind: 'nothing' };
    const timedRecord = timedRecordOf(object.metadata.uid);
    const loaded = await timedRecord.load();
    if (loaded.kind === 'newer') return { kind: 'nothing' };
    if (loaded.kind === 'none') return { kind: 'here', object, timedRecord, loaded };
    return findSubject({ kubernetes }, { ref, uid: object.metadata.uid, timedRecordOf });
  }

  const timedRecord = timedRecordOf(uid);
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return { kind: 'nothing' };
  const isLeftUnread = loaded.kind === 'known' ? isUnchanged(loaded.value) : onlyIfKnown;
  if (isLeftUnread) return { kind: 'nothing' };
  const object = await read(ref.name);
  if (object?.metadata.uid === uid) return { kind: 'here', object, timedRecord, loaded };
  if (loaded.kind === 'none') return { kind: 'nothing' };

  const { subject } = loaded.stored;
  const gone = { kind: 'gone', timedRecord, value: loaded.value, subject } as const;
  if (subject.name === ref.name) return gone;
  const stored = await read(subject.name);
  return stored?.metadata.uid === uid ? { kind: 'here', object: stored, timedRecord, loaded } : gone;
}
