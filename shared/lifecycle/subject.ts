/**
 * Which object a message is about. A message may name an object twice, by name and by UID, and be wrong in one of them: before a
 * record is closed, the name that the record itself stores is read again (I10).
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
      readonly record: TimedRecord<Value>;
      readonly loaded: Exclude<LoadedRecord<Value>, { kind: 'newer' }>;
    }
  | GoneSubject<Value>
  /** No such object and no record; nothing new to a record; or the record is a newer version's, which is left to it (T5). */
  | { readonly kind: 'nothing' };

/** No object with that UID, and a record of it: to be closed. */
export interface GoneSubject<Value> {
  readonly kind: 'gone';
  readonly record: TimedRecord<Value>;
  readonly value: Value;
  readonly subject: Subject;
}

/** A subject with all that its concern looks at. */
export type Lookup<Observation, Value> =
  { readonly kind: 'here'; readonly observation: Observation } | Exclude<FoundSubject<Value>, { kind: 'here' }>;

export interface SubjectQuery<Value> {
  readonly ref: ObjectRef;
  /** Absent: whichever object has the name. */
  readonly uid: string | undefined;
  /** The record of the object with this UID; the same one each time within a run. */
  readonly recordOf: (uid: string) => TimedRecord<Value>;
  /** What changed of the object concerns only what is remembered of it: without a record it is not read. */
  readonly onlyIfKnown?: boolean | undefined;
  /** Asked of what is remembered of it: true leaves the object unread. */
  readonly isUnchanged?: ((value: Value) => boolean) | undefined;
}

/**
 * Reads the record, then the object: what is decided on is never older than the record that it is compared with. Where the message
 * does not say the UID, the object comes first, and again if there is a record.
 */
export async function findSubject<Value>(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  { ref, uid, recordOf, onlyIfKnown = false, isUnchanged = () => false }: SubjectQuery<Value>,
): Promise<FoundSubject<Value>> {
  const read = async (name: string): Promise<KubernetesObject | undefined> =>
    objectOf(await kubernetes.get({ ...ref, name }), { notServed: 'notKnown' });
  if (uid === undefined) {
    const object = await read(ref.name);
    if (object === undefined) return { kind: 'nothing' };
    const record = recordOf(object.metadata.uid);
    const loaded = await record.load();
    if (loaded.kind === 'newer') return { kind: 'nothing' };
    if (loaded.kind === 'none') return { kind: 'here', object, record, loaded };
    return findSubject({ kubernetes }, { ref, uid: object.metadata.uid, recordOf });
  }

  const record = recordOf(uid);
  const loaded = await record.load();
  const isRead = loaded.kind === 'known' ? !isUnchanged(loaded.value) : loaded.kind === 'none' && !onlyIfKnown;
  if (loaded.kind === 'newer' || !isRead) return { kind: 'nothing' };
  const object = await read(ref.name);
  if (object?.metadata.uid === uid) return { kind: 'here', object, record, loaded };
  if (loaded.kind === 'none') return { kind: 'nothing' };

  const { subject } = loaded.stored;
  const gone = { kind: 'gone', record, value: loaded.value, subject } as const;
  if (subject.name === ref.name) return gone;
  const stored = await read(subject.name);
  return stored?.metadata.uid === uid ? { kind: 'here', object: stored, record, loaded } : gone;
}
