import type { JsonObject } from '../json.ts';

/**
 * How the parts of an object merge. Server-side apply asks what is a set, a map by key or one indivisible value; strategic merge
 * patches have a key of their own per list. A field without an entry is a scalar, a granular object or an atomic list.
 */
export interface MergeSchema {
  /** Fields of an object that differ from the default. */
  readonly fields?: Readonly<Record<string, MergeSchema>>;
  /** Schema of the members of a free-form map. */
  readonly values?: MergeSchema;
  /** Server-side apply: only the fields in `fields` exist. */
  readonly closed?: boolean;
  /** Server-side apply: an object that one manager owns as a whole. */
  readonly atomic?: boolean;
  /** Server-side apply: how a list merges. Default `atomic`. */
  readonly list?: 'atomic' | 'set' | 'map';
  /** Keys of a `map` list. */
  readonly keys?: readonly string[];
  /** Values of keys that are absent from an item, such as a port's protocol. */
  readonly keyDefaults?: JsonObject;
  /** Schema of a list's items. */
  readonly items?: MergeSchema;
  /** Strategic merge: lists with a key merge by it, `set` lists of scalars by value; without this a list is replaced. */
  readonly patchBy?: { readonly key: string } | 'set';
  /** Strategic merge: an object that is replaced as a whole. */
  readonly patchReplaces?: boolean;
}

export const UNTYPED: MergeSchema = {};

/** The schema of a field: declared, or that of the map's values, or the default. */
export function fieldSchema(schema: MergeSchema, field: string): MergeSchema {
  const { fields } = schema;
  const declared = fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
  return declared ?? schema.values ?? UNTYPED;
}

/** A list of a built-in kind that merges by one key, in server-side apply and in strategic merge patches alike. */
export function listBy(key: string, items?: MergeSchema): MergeSchema {
  return {
    list: 'map',
    keys: [key],
    keyDefaults: { [key]: '' },
    patchBy: { key },
    ...(items === undefined ? {} : { items }),
  };
}

/** A list of scalars that merges as a set. */
const MERGED_SET: MergeSchema = { list: 'set', patchBy: 'set' };

/** An object or map that server-side apply treats as one value. */
export const ATOMIC: MergeSchema = { atomic: true };

/** `metadata` of every object. */
export const METADATA: MergeSchema = { fields: { finalizers: MERGED_SET, ownerReferences: listBy('uid') } };
