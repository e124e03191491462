/** Writes and reads the stored form of records. */
import type { FunctionName } from '../contract/names.ts';
import type * as z from '../contract/zod.ts';
import { isJsonObject, toJson } from '../domain/json.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import { RetryableError } from '../errors.ts';
import type { StoredRecord } from '../ports/record-store.ts';

/** The stored form of a concern's record. One writer per record type: `owner`. */
export interface RecordCodec<Value> {
  readonly owner: FunctionName;
  /** The version that this code writes; it reads all up to it. */
  readonly schemaVersion: number;
  /** Fields that stand in the store under the names that earlier versions gave them: name → stored name. */
  readonly storedNames?: Readonly<Record<string, string>>;
  /** Throws for a state of a known version that does not have its shape: a bug, never user input. */
  parse(state: JsonObject): Value;
  /** Without `schemaVersion`; throws for a value that `parse` would refuse. */
  toState(value: Value): JsonObject;
}

export type LoadedRecord<Value> =
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly value: Value; readonly stored: StoredRecord }
  /** Written by a newer version of this function (T5). */
  | { readonly kind: 'newer'; readonly stored: StoredRecord };

/**
 * Throws if a newer version wrote the record. A message that nobody repeats then stays in its queue, as after a rollback (I9). Other
 * messages may go: a later look at the live state replaces them.
 *
 * @param what the record is about
 * @throws {RetryableError} `NewerRecord`
 */
export function throwIfNewer<Value>(
  loaded: LoadedRecord<Value>,
  what: string,
): Exclude<LoadedRecord<Value>, { kind: 'newer' }> {
  if (loaded.kind !== 'newer') return loaded;
  throw new RetryableError(`the record of ${what} was written by a newer version`, { reason: 'NewerRecord' });
}

/**
 * The codec of a record whose schema is its type: checked before each write and after each read. A field that the schema lacks is not written.
 * @param upgrade brings a state that an earlier version wrote into the shape of today
 */
export function checkedCodec<Value>(
  owner: FunctionName,
  schema: z.ZodMiniType<Value>,
  schemaVersion: number,
  upgrade: (state: JsonObject) => unknown = state => state,
): RecordCodec<Value> {
  return {
    owner,
    schemaVersion,
    // The schema refuses a state that is no object.
    parse: state => schema.parse(isJsonObject(state) ? upgrade(state) : state),
    toState: value => toJson(schema.parse(toJson(value))),
  };
}

/** The codec of a record some of whose fields stand in the store under the names that earlier versions gave them: name → stored name. */
export function storedUnder<Value>(
  names: Readonly<Partial<Record<keyof Value & string, string>>>,
  codec: RecordCodec<Value>,
): RecordCodec<Value> {
  const storedNames = Object.fromEntries(
    Object.entries<string | undefined>(names).map(([own, stored]) => [own, stored ?? own]),
  );
  const toStored = new Map(Object.entries(storedNames));
  const toOwn = new Map([...toStored].map(([own, stored]) => [stored, own]));
  return {
    ...codec,
    storedNames,
    parse: state => codec.parse(isJsonObject(state) ? renamed(state, toOwn) : state),
    toState: value => renamed(codec.toState(value), toStored),
  };
}

/** The object with its fields under other names: name → other name. */
export const renamed = (state: JsonObject, names: ReadonlyMap<string, string | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [names.get(name) ?? name, value]));

/** The field that marks a record as about to be deleted (`timed-record.ts`, T3). It is the kernel's own, and no codec sees it. */
export const CLOSING = 'closing';

/** The stored record, as the codec reads it. */
export function readRecord<Value>(codec: RecordCodec<Value>, stored: StoredRecord | undefined): LoadedRecord<Value> {
  if (stored === undefined) return { kind: 'none' };
  const { schemaVersion, [CLOSING]: _, ...state } = stored.state;
  if (typeof schemaVersion === 'number' && schemaVersion > codec.schemaVersion) return { kind: 'newer', stored };
  return { kind: 'known', value: parseOnce(codec, stored.state, state), stored };
}

/** Parsed values by stored state. With a store in this process an unchanged record is the same object, and is parsed once. */
const parsedStates = new WeakMap<JsonObject, { readonly codec: unknown; readonly value: unknown }>();

function parseOnce<Value>(codec: RecordCodec<Value>, stored: JsonObject, state: JsonObject): Value {
  const known = parsedStates.get(stored);
  if (known?.codec === codec) return known.value as Value;
  const value = codec.parse(state);
  parsedStates.set(stored, { codec, value });
  return value;
}
