/** `metadata`: what a client may send, what the server owns, and what is refused. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isArray, isObject, objectAt, textAt } from '../json.ts';
import {
  complainAboutLabelValue,
  complainAboutNamespace,
  complainAboutName,
  complainAboutQualifiedName,
  STANDARD_FINALIZERS,
} from '../names.ts';
import type { ResourceRules, ServedResource } from '../resources/resource-rules.ts';
import { badRequest } from '../status-errors.ts';
import type { Cause } from '../status-errors.ts';

/** Fields of ObjectMeta; everything else in `metadata` is dropped. `selfLink` is no longer stored. */
const KNOWN = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]);
const TEXTS = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'];
const TEXT_MAPS = ['labels', 'annotations'];
const MAX_ANNOTATION_BYTES = 256 * 1024;

/**
 * The metadata of a request as the server decodes it: known fields only, nothing that is null or empty.
 * @throws ApiStatusError 400 for a field of the wrong type
 */
export function decodeMetadata(body: JsonObject, kind: string): JsonObject {
  const sent = body.metadata ?? {};
  if (!isObject(sent)) throw undecodable(body, kind, 'metadata', 'v1.ObjectMeta');
  const decoded: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(sent)) {
    if (!KNOWN.has(key) || value === null || value === undefined || isEmpty(value)) continue;
    checkType(body, kind, key, value);
    decoded[key] = value;
  }
  return decoded;
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || (isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
}

function checkType(body: JsonObject, kind: string, key: string, value: JsonValue): void {
  const path = `metadata.${key}`;
  if (TEXTS.includes(key) && typeof value !== 'string') throw undecodable(body, kind, path, 'string');
  if (TEXT_MAPS.includes(key)) {
    if (!isObject(value)) throw undecodable(body, kind, path, 'map[string]string');
    for (const text of Object.values(value))
      if (typeof text !== 'string') throw undecodable(body, kind, path, 'string');
  }
  if (key === 'finalizers' && !(isArray(value) && value.every(item => typeof item === 'string'))) {
    throw undecodable(body, kind, path, '[]string');
  }
  if (key === 'ownerReferences' && !(isArray(value) && value.every(isObject))) {
    throw undecodable(body, kind, path, '[]v1.OwnerReference');
  }
}

function undecodable(body: JsonObject, kind: string, path: string, type: string) {
  const version = (textAt(body, 'apiVersion') ?? '').split('/').at(-1) ?? '';
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal into Go struct field ObjectMeta.${path} of type ${type}`,
  );
}

/** Fields that only the server sets; an update keeps what is stored. */
const SERVER_OWNED = ['uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

/**
 * The metadata of an update: the server's own fields as stored, the user's as sent. `resourceVersion` and `uid` were preconditions
 * and have been checked.
 */
export function updatedMetadata(old: JsonObject, sent: JsonObject): JsonObject {
  const next: Record<string, JsonValue | undefined> = { ...sent, resourceVersion: old.resourceVersion };
  if (next.name === undefined) next.name = old.name;
  if (next.namespace === undefined) next.namespace = old.namespace;
  if (next.generateName === undefined) next.generateName = old.generateName;
  for (const key of SERVER_OWNED) next[key] = old[key];
  for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
  return next;
}

/** What is wrong with the metadata of a new object. */
export function complainAboutNewMetadata(metadata: JsonObject, { info, rules }: ServedResource): Cause[] {
  const causes: Cause[] = [];
  const prefix = textAt(metadata, 'generateName');
  if (prefix !== undefined) {
    causes.push(...invalidValue('metadata.generateName', prefix, complainAboutName(rules.nameRule, prefix, true)));
  }
  const name = textAt(metadata, 'name') ?? '';
  if (name === '') causes.push(required('metadata.name', 'name or generateName is required'));
  else causes.push(...invalidValue('metadata.name', name, complainAboutName(rules.nameRule, name)));
  const namespace = textAt(metadata, 'namespace');
  if (info.namespaced && namespace !== undefined) {
    causes.push(...invalidValue('metadata.namespace', namespace, complainAboutNamespace(namespace)));
  }
  return [...causes, ...complainAboutMetadata(metadata, undefined, rules)];
}

/** What is wrong with the fields that users set. Fields that are the old object's are not looked at again. */
export function complainAboutMetadata(
  metadata: JsonObject,
  old: JsonObject | undefined,
  rules: ResourceRules,
): Cause[] {
  const causes: Cause[] = [];
  if (metadata.labels !== old?.labels) causes.push(...complainAboutLabels(objectAt(metadata, 'labels')));
  if (metadata.annotations !== old?.annotations)
    causes.push(...complainAboutAnnotations(objectAt(metadata, 'annotations')));
  if (metadata.ownerReferences !== old?.ownerReferences)
    causes.push(...complainAboutOwners(arrayAt(metadata, 'ownerReferences')));
  if (metadata.finalizers !== old?.finalizers) causes.push(...complainAboutFinalizers(metadata, rules));
  return causes;
}

/** What is wrong with an update of metadata as such: immutable fields, finalizers on an object that is being deleted. */
export function complainAboutMetadataUpdate(metadata: JsonObject, old: JsonObject): Cause[] {
  const causes: Cause[] = [];
  for (const key of ['name', 'namespace', 'uid']) {
    if (metadata[key] !== old[key]) {
      causes.push(...invalidValue(`metadata.${key}`, textAt(metadata, key) ?? '', ['field is immutable']));
    }
  }
  if (old.deletionTimestamp !== undefined && metadata.finalizers !== old.finalizers) {
    const known = new Set(arrayAt(old, 'finalizers'));
    const added = arrayAt(metadata, 'finalizers').filter(finalizer => !known.has(finalizer));
    if (added.length > 0) {
      const list = added
        .map(finalizer => `"${String(finalizer)}"`)
        .toSorted()
        .join(', ');
      causes.push({
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      });
    }
  }
  return causes;
}

function complainAboutLabels(labels: JsonObject): Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...invalidValue('metadata.labels', key, complainAboutQualifiedName(key)),
    ...invalidValue('metadata.labels', String(value), complainAboutLabelValue(String(value))),
  ]);
}

function complainAboutAnnotations(annotations: JsonObject): Cause[] {
  let bytes = 0;
  const causes = Object.entries(annotations).flatMap(([key, value]) => {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value));
    return invalidValue('metadata.annotations', key, complainAboutQualifiedName(key.toLowerCase()));
  });
  if (bytes > MAX_ANNOTATION_BYTES) {
    const message = `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`;
    causes.push({ reason: 'FieldValueTooLong', field: 'metadata.annotations', message });
  }
  return causes;
}

function complainAboutOwners(owners: readonly JsonValue[]): Cause[] {
  const causes: Cause[] = [];
  let controller: string | undefined;
  for (const [index, owner] of owners.entries()) {
    if (!isObject(owner)) continue;
    const path = `metadata.ownerReferences[${index}]`;
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if ((textAt(owner, key) ?? '') === '') {
        causes.push(
          ...invalidValue(`${path}.${key}`, '', [
            key === 'apiVersion' ? 'version must not be empty' : 'must not be empty',
          ]),
        );
      }
    }
    if (owner.controller !== true) continue;
    const named = `${textAt(owner, 'kind') ?? ''}/${textAt(owner, 'name') ?? ''}`;
    if (controller !== undefined) {
      const message = `Invalid value: Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${named}`;
      causes.push({ reason: 'FieldValueInvalid', field: 'metadata.ownerReferences', message });
    }
    controller ??= named;
  }
  return causes;
}

function complainAboutFinalizers(metadata: JsonObject, rules: ResourceRules): Cause[] {
  const finalizers = arrayAt(metadata, 'finalizers').map(String);
  const causes = finalizers.flatMap(name =>
    invalidValue('metadata.finalizers', name, complainAboutQualifiedName(name)),
  );
  if (!rules.qualifiedFinalizers) return causes;
  for (const [index, name] of finalizers.entries()) {
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
    const complaint = 'name is neither a standard finalizer name nor is it fully qualified';
    causes.push(...invalidValue(`metadata.finalizers[${index}]`, name, [complaint]));
  }
  return causes;
}

/** One cause for each complaint about a value. */
export function invalidValue(field: string, value: string, complaints: readonly string[]): Cause[] {
  return complaints.map(text => ({
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${text}`,
  }));
}

/** The cause for a value that must be there. */
export function required(field: string, why = ''): Cause {
  return { reason: 'FieldValueRequired', field, message: why === '' ? 'Required value' : `Required value: ${why}` };
}
