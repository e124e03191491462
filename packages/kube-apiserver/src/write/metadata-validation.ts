/** What is wrong with `metadata`: names, labels, annotations, owners, finalizers, and changes that are not allowed. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isObject, objectAt, show, textAt } from '../json.ts';
import {
  complainAboutLabelValue,
  complainAboutNamespace,
  complainAboutName,
  complainAboutQualifiedName,
  STANDARD_FINALIZERS,
} from '../names.ts';
import type { ResourceRules, ServedResource } from '../resources/resource-rules.ts';
import type { Cause } from '../status-errors.ts';
import { invalidValue, required } from '../status-errors.ts';

const MAX_ANNOTATION_BYTES = 256 * 1024;

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

const IMMUTABLE = ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

/** What is wrong with an update of metadata as such: immutable fields, finalizers on an object that is being deleted. */
export function complainAboutMetadataUpdate(metadata: JsonObject, old: JsonObject): Cause[] {
  const causes: Cause[] = [];
  for (const key of IMMUTABLE) {
    if (metadata[key] === old[key]) continue;
    const message = `Invalid value: ${JSON.stringify(metadata[key] ?? '')}: field is immutable`;
    causes.push({ reason: 'FieldValueInvalid', field: `metadata.${key}`, message });
  }
  if (old.deletionTimestamp !== undefined && metadata.finalizers !== old.finalizers) {
    const known = new Set(arrayAt(old, 'finalizers'));
    const added = arrayAt(metadata, 'finalizers').filter(finalizer => !known.has(finalizer));
    if (added.length > 0) {
      const list = added
        .map(finalizer => `"${show(finalizer)}"`)
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
    ...invalidValue('metadata.labels', show(value), complainAboutLabelValue(show(value))),
  ]);
}

function complainAboutAnnotations(annotations: JsonObject): Cause[] {
  let bytes = 0;
  const causes = Object.entries(annotations).flatMap(([key, value]) => {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(show(value));
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
  const finalizers = arrayAt(metadata, 'finalizers').map(show);
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
