/**
 * Server-side apply. A manager says which fields it wants and how; the server merges that into the object, takes away what the
 * manager wanted before and no longer does (unless somebody else manages it too), and refuses to change fields of others.
 */
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, isObject, without } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import { badRequest, invalid } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';
import { checkConfiguration } from './check-configuration.ts';
import { conflictsWith } from './conflicts.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, difference, intersection, isEmptySet, union } from './field-set.ts';
import type { Manager } from './managers.ts';
import { equalManagers, isSameManager, managedOnly, readManagers, withoutFieldsOf, writeManagers } from './managers.ts';
import { mergeValues, withoutFields } from './merge-values.ts';
import { changedManagers, withBlanks } from './tracking.ts';
import type { Comparison } from './typed-values.ts';
import { compareValues, fieldsOf, withNamedFields } from './typed-values.ts';

export interface Application {
  /** The stored object; undefined when the apply creates it. */
  readonly live: JsonObject | undefined;
  /** What was sent, with `apiVersion` and `kind`. */
  readonly config: JsonObject;
  readonly force: boolean;
  readonly options: WriteOptions;
  readonly now: string;
}

/** Manager of the fields that an object had before it was applied for the first time. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * The object as applied, `managedFields` included; the live object itself when the apply changes nothing.
 * @throws ApiStatusError 400 for a malformed configuration, 409 for conflicts, 422 without a field manager
 */
export function applyConfiguration(served: ServedResource, application: Application): JsonObject {
  const { live, options, now, force } = application;
  const schema = served.rules.mergeSchema;
  const { fieldManager } = options;
  if (fieldManager === undefined || fieldManager === '') throw managerRequired();
  const config = ownConfiguration(served, application);
  checkConfiguration(served, config);
  const configured = fieldsOf(config, schema);
  const applied: Manager = {
    name: fieldManager,
    operation: 'Apply',
    apiVersion: served.apiVersion,
    subresource: options.subresource ?? '',
    time: now,
    fields: managedOnly(configured),
  };
  const base = withoutManagedFields(live ?? EMPTY_OBJECT);
  const before = knownManagers(served, live, now);
  const last = before.find(manager => isSameManager(manager, applied));
  const others = before.filter(manager => manager !== last);
  const merged = mergeValues(base, config, schema);
  if (!isObject(merged)) throw badRequest('an object must be applied');
  const pruned = prune(served, merged, {
    last: last?.fields ?? EMPTY_SET,
    kept: [...others.map(({ fields }) => fields), configured],
  });
  const change = compareValues(withBlanks(served, base), withBlanks(served, pruned), schema);
  // The time is that of the last change, so an opinion that changes nothing has none of its own.
  const changes = live === undefined || !isEmptyChange(change);
  const managers = [...resolve(change, others, force), changes ? applied : { ...applied, time: last?.time }];
  if (!changes && equalManagers(managers, before)) return live;
  return withMetadata(pruned, { managedFields: writeManagers(managers) });
}

/** What the configuration may be about: not the status, or, applied to the status subresource, nothing else. */
function ownConfiguration(served: ServedResource, { config, options }: Application): JsonObject {
  if (metadataOf(config).managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (!served.info.hasStatus) return config;
  if (options.subresource !== 'status') return without(config, 'status');
  const { apiVersion, kind, status } = config;
  const { statusWriteKeeps } = served.rules;
  const { name, namespace, uid, resourceVersion } = metadataOf(config);
  const metadata =
    statusWriteKeeps === 'all'
      ? { name, namespace, uid, resourceVersion }
      : without(metadataOf(config), ...statusWriteKeeps);
  return { apiVersion, kind, metadata, ...(status === undefined ? {} : { status }) };
}

function withoutManagedFields(object: JsonObject): JsonObject {
  return object.metadata === undefined ? object : withMetadata(object, { managedFields: undefined });
}

/** The object's managers; the fields of an object that nobody managed so far are kept from being taken over unnoticed. */
function knownManagers(served: ServedResource, live: JsonObject | undefined, now: string): readonly Manager[] {
  if (live === undefined) return [];
  const managers = readManagers(metadataOf(live));
  if (managers.length > 0) return managers;
  return changedManagers(
    served,
    { old: served.rules.blank, next: live, options: { fieldManager: BEFORE_FIRST_APPLY } },
    [],
    now,
  );
}

/** Takes out what the manager applied before, does not apply now, and nobody else manages. */
function prune(
  { rules }: ServedResource,
  merged: JsonObject,
  { last, kept }: { readonly last: FieldSet; readonly kept: readonly FieldSet[] },
): JsonObject {
  if (isEmptySet(last)) return merged;
  const schema = rules.mergeSchema;
  const named = (set: FieldSet) => withNamedFields(set, schema);
  const managed = kept.reduce(union, EMPTY_SET);
  const fields = (value: JsonObject) => named(fieldsOf(value, schema));
  const take = (set: FieldSet): JsonObject => {
    const rest = withoutFields(merged, set, schema);
    return isObject(rest) ? rest : EMPTY_OBJECT;
  };
  const all = fields(merged);
  const stripped = take(named(last));
  const ownedBack = take(difference(all, union(fields(stripped), named(managed))));
  return take(intersection(difference(all, fields(ownedBack)), named(last)));
}

/**
 * The other managers after the apply.
 * @throws ApiStatusError 409 when their fields change and it is not forced
 */
function resolve({ added, modified, removed }: Comparison, others: readonly Manager[], force: boolean): Manager[] {
  const changed = union(added, modified);
  const taken = others
    .map(manager => ({ manager, fields: intersection(manager.fields, changed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (taken.length > 0 && !force) throw conflictsWith(taken);
  return withoutFieldsOf(others, union(changed, removed));
}

/** Nothing but the managers differs. (A uid or version that the configuration names is a difference if it is another one.) */
function isEmptyChange({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed);
}

function managerRequired() {
  return invalid({ group: 'meta.k8s.io', name: 'PatchOptions' }, '', [
    { reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' },
  ]);
}
