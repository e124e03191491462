/** What makes a configuration impossible to apply: unknown fields, list items without keys, items that stand there twice. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject } from '../json.ts';
import { nameOf, namespaceOf } from '../objects.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import { UNTYPED, fieldSchema } from '../patch/merge-schema.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import { serverRefused } from '../status-errors.ts';
import { itemElement, missingKey, pathText } from './path-elements.ts';

/** @throws ApiStatusError 500, as kube-apiserver refuses a configuration that it cannot type */
export function checkConfiguration({ rules, apiVersion, info }: ServedResource, config: JsonObject): void {
  const complaint = complain(config, rules.mergeSchema, '');
  if (complaint === undefined) return;
  const object = `${namespaceOf(config)}/${nameOf(config)}; ${info.group === '' ? `/${apiVersion}` : apiVersion}, Kind=${info.kind}`;
  throw serverRefused(`failed to create typed patch object (${object}): ${complaint}`);
}

function complain(value: JsonValue, schema: MergeSchema, path: string): string | undefined {
  if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      const fieldPath = `${path}.${key}`;
      if (isUnknown(key, schema)) return `${fieldPath}: field not declared in schema`;
      const complaint = complain(field, fieldSchema(schema, key), fieldPath);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  }
  return isArray(value) ? complainAboutItems(value, schema, path) : undefined;
}

function isUnknown(key: string, { closed, fields }: MergeSchema): boolean {
  return closed === true && !(fields !== undefined && Object.hasOwn(fields, key));
}

function complainAboutItems(list: readonly JsonValue[], schema: MergeSchema, path: string): string | undefined {
  const isKeyed = schema.list === 'map' || schema.list === 'set';
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const missing = schema.list === 'map' ? missingKey(item, schema) : undefined;
    if (missing !== undefined) {
      return `${path}: element ${index}: associative list with keys has an element that omits key field "${missing}" (and doesn't have default value)`;
    }
    const element = isKeyed ? itemElement(item, schema) : String(index);
    if (isKeyed && seen.has(element)) return `${path}: duplicate entries for key ${pathText([element])}`;
    seen.add(element);
    const itemPath = isKeyed ? `${path}${pathText([element])}` : `${path}[${index}]`;
    const complaint = complain(item, schema.items ?? UNTYPED, itemPath);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}
