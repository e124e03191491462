/** `metadata.managedFields`: who has an opinion about which fields. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';
import type { FieldSet } from './field-set.ts';
import { difference, equalSets, fromFieldsV1, isEmptySet, toFieldsV1 } from './field-set.ts';

export type Operation = 'Apply' | 'Update';

export interface Manager {
  readonly name: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339 text of the last time this manager changed something. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** The managers of an object. */
export function readManagers(metadata: JsonObject): Manager[] {
  return arrayAt(metadata, 'managedFields')
    .filter(isObject)
    .map(entry => ({
      name: textAt(entry, 'manager') ?? 'unknown',
      operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion: textAt(entry, 'apiVersion') ?? '',
      subresource: textAt(entry, 'subresource') ?? '',
      time: textAt(entry, 'time'),
      fields: fromFieldsV1(objectAt(entry, 'fieldsV1')),
    }));
}

/** The entries for `managedFields`; managers without fields have none. Undefined when nobody manages anything. */
export function writeManagers(managers: readonly Manager[]): JsonValue[] | undefined {
  const entries = managers
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted(byRank)
    .map(writeManager);
  return entries.length === 0 ? undefined : entries;
}

function writeManager({ name, operation, apiVersion, subresource, time, fields }: Manager): JsonObject {
  return {
    manager: name,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fieldsV1Of(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** Objects are never changed, so those with the same fields may share how these are written. */
function fieldsV1Of(fields: FieldSet): JsonObject {
  const before = writtenFields.get(fields);
  if (before !== undefined) return before;
  const written = toFieldsV1(fields);
  writtenFields.set(fields, written);
  return written;
}

const writtenFields = new WeakMap<FieldSet, JsonObject>();

/** Appliers first, then by time, then by name. */
function byRank(a: Manager, b: Manager): number {
  const text = ({ operation, time, name, apiVersion, subresource }: Manager) =>
    [operation, time ?? '', name, apiVersion, subresource].join('\0');
  const [left, right] = [text(a), text(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** True for entries of the same manager: an applier is the same in every version. */
export function isSameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** The managers after some fields ceased to be theirs. */
export function withoutFieldsOf(managers: readonly Manager[], fields: FieldSet): Manager[] {
  return managers.map(manager => ({ ...manager, fields: difference(manager.fields, fields) }));
}

/** True when the same managers own the same fields; times do not count. */
export function equalManagers(a: readonly Manager[], b: readonly Manager[]): boolean {
  const live = (managers: readonly Manager[]) => managers.filter(({ fields }) => !isEmptySet(fields));
  const [left, right] = [live(a), live(b)];
  return (
    left.length === right.length &&
    left.every(manager => {
      const same = right.find(other => isSameManager(manager, other) && manager.apiVersion === other.apiVersion);
      return same !== undefined && equalSets(manager.fields, same.fields);
    })
  );
}

/** Fields that nobody manages: identity, and what the server owns. */
const UNMANAGED: FieldSet = fromFieldsV1({
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:name': {},
    'f:namespace': {},
    'f:creationTimestamp': {},
    'f:selfLink': {},
    'f:uid': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:resourceVersion': {},
  },
});

/** Without what nobody manages: the fields that the server sets by itself. */
export function managedOnly(fields: FieldSet): FieldSet {
  return difference(fields, UNMANAGED);
}
