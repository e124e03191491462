/**
 * `managedFields` of writes that are not applies. They are only kept where somebody asked for them: objects created with a field
 * manager, and objects that were applied. A heartbeat of an object without them costs nothing.
 */
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject, withField, without } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { WriteOptions } from '../types.ts';
import type { Request } from '../write/commit.ts';
import { createMemory, type Memory } from '../memory.ts';
import { union, type FieldSet } from './field-set.ts';
import type { Manager } from './managers.ts';
import { isSameManager, managedOnly, readManagers, withoutFieldsOf, writeManagers } from './managers.ts';
import { compareValues } from './typed-values.ts';

/** One update: the stored state and the one that replaces it. */
export interface TrackedUpdate {
  readonly current: JsonObject;
  readonly next: JsonObject;
  readonly request: Request;
}

/** A new object with its creator as manager of all its fields, if the creator is named. */
export function trackCreate(served: ServedResource, next: JsonObject, options: WriteOptions, now: string): JsonObject {
  if (options.fieldManager === undefined) return next;
  const { info } = served;
  const sent = info.hasStatus ? without(next, 'status') : next;
  const managers = writeManagers([updater(served, options, now, newFields(served, sent))]);
  return withField(next, 'metadata', withField(metadataOf(next), 'managedFields', managers));
}

/** The fields of a new object that somebody manages. Objects of one kind mostly have the same ones. */
function newFields(served: ServedResource, next: JsonObject): FieldSet {
  const { blank, mergeSchema } = served.rules;
  const compare = (): FieldSet => {
    const { added, modified } = compareValues(blank, withBlanks(served, next), mergeSchema);
    return managedOnly(union(added, modified));
  };
  const shape = Object.values(blank).every(isBlank) ? shapeOf(next) : undefined;
  if (shape === undefined) return compare();
  const known = fieldsByShape.get(served) ?? createMemory<FieldSet>(MAX_SHAPES);
  fieldsByShape.set(served, known);
  return known.get(shape, compare);
}

const isBlank = (part: JsonValue | undefined): boolean => isObject(part) && Object.keys(part).length === 0;

/** Per resource: labels and annotations of any name make shapes, too. */
const MAX_SHAPES = 100;
const fieldsByShape = new WeakMap<ServedResource, Memory<FieldSet>>();

/** An object without its values: what is to be known of it to name its fields. Undefined where a list's items may be fields. */
function shapeOf(object: JsonObject): string | undefined {
  let shape = '{';
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const below = isObject(value) ? shapeOf(value) : Array.isArray(value) ? undefined : value === null ? 'null' : '';
    if (below === undefined) return undefined;
    // With its length: keys may hold anything.
    shape += `${key.length}:${key}${below}`;
  }
  return `${shape}}`;
}

/** The next state with the fields that changed made those of the writer. */
export function trackUpdate(
  served: ServedResource,
  { current, next, request }: TrackedUpdate,
  now: string,
): JsonObject {
  const sent = metadataOf(next).managedFields;
  const stored = metadataOf(current).managedFields;
  if (sent === undefined && stored === undefined) return next;
  if (isReset(sent)) return withMetadata(next, { managedFields: undefined });
  const managers = readManagers(metadataOf(sent === undefined ? current : next));
  return trackChange(served, { old: current, next, options: request.options }, managers, now);
}

/** A list with one empty entry is how a client says that nobody shall manage anything. */
function isReset(managedFields: unknown): boolean {
  if (!Array.isArray(managedFields)) return false;
  const [only] = managedFields;
  return managedFields.length === 1 && isObject(only) && Object.keys(only).length === 0;
}

interface Change {
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly options: WriteOptions;
}

function trackChange(served: ServedResource, change: Change, managers: readonly Manager[], now: string): JsonObject {
  const tracked = changedManagers(served, change, managers, now);
  const { old, next } = change;
  // An apply that changes nothing keeps the entries' times, too.
  const managedFields = tracked === managers ? metadataOf(old).managedFields : writeManagers(tracked);
  return withField(next, 'metadata', withField(metadataOf(next), 'managedFields', managedFields));
}

/** An object with the parts that every object of its kind has, so that nobody adds or removes them as such. */
export function withBlanks({ rules }: ServedResource, object: JsonObject): JsonObject {
  const { blank } = rules;
  return Object.keys(blank).every(key => object[key] !== undefined) ? object : { ...blank, ...object };
}

/** The managers after a change; the same array when nobody's fields changed. */
export function changedManagers(
  served: ServedResource,
  { old, next, options }: Change,
  managers: readonly Manager[],
  now: string,
): readonly Manager[] {
  const { rules } = served;
  const { added, modified, removed } = compareValues(
    withBlanks(served, old),
    withBlanks(served, next),
    rules.mergeSchema,
  );
  const changed = managedOnly(union(added, modified));
  const rest = withoutFieldsOf(managers, union(changed, managedOnly(removed)));
  if (changed.children.size === 0 && removed.children.size === 0) return managers;
  const writer = updater(served, options, now, changed);
  const before = rest.find(manager => isSameManager(manager, writer));
  const after =
    changed.children.size === 0 ? [] : [{ ...writer, fields: union(before?.fields ?? writer.fields, writer.fields) }];
  return [...rest.filter(manager => manager !== before || after.length === 0), ...after];
}

/** Who writes, as the manager of these fields. */
function updater({ apiVersion }: ServedResource, options: WriteOptions, now: string, fields: FieldSet): Manager {
  return {
    name: options.fieldManager ?? options.user ?? 'unknown',
    operation: 'Update',
    apiVersion,
    subresource: options.subresource ?? '',
    time: now,
    fields,
  };
}
