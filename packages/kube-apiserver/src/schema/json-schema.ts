/** The schema of a custom resource as JSON Schema, for Ajv: OpenAPI's nullable, boolean exclusive bounds and extensions translated. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isArray, isObject } from '../json.ts';

/** Keywords that mean the same in both. */
const SAME = [
  'enum',
  'pattern',
  'format',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxProperties',
  'minProperties',
  'multipleOf',
  'required',
];

/** Translates one schema with everything below it. */
export function toJsonSchema(source: JsonObject): JsonObject {
  const schema: Record<string, JsonValue | undefined> = {};
  for (const keyword of SAME) if (source[keyword] !== undefined) schema[keyword] = source[keyword];
  const types = typesOf(source);
  if (types !== undefined) schema.type = source.nullable === true ? [...types, 'null'] : types;
  if (source.nullable === true && isArray(source.enum)) schema.enum = [...source.enum, null];
  addBound(schema, source, 'minimum', 'exclusiveMinimum');
  addBound(schema, source, 'maximum', 'exclusiveMaximum');
  const { properties, additionalProperties, items, not } = source;
  if (isObject(properties)) schema.properties = mapMembers(properties);
  if (isObject(additionalProperties)) schema.additionalProperties = toJsonSchema(additionalProperties);
  if (isObject(items)) schema.items = toJsonSchema(items);
  if (source['x-kubernetes-embedded-resource'] === true) schema.required = embeddedRequired(source);
  if (isObject(not)) schema.not = toJsonSchema(not);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const branches = arrayAt(source, keyword).filter(isObject);
    if (branches.length > 0) schema[keyword] = branches.map(toJsonSchema);
  }
  return schema;
}

/** An object in an object says what it is. */
function embeddedRequired(source: JsonObject): JsonValue[] {
  return [...new Set(['apiVersion', 'kind', ...arrayAt(source, 'required')])];
}

function typesOf(source: JsonObject): JsonValue[] | undefined {
  if (source['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return typeof source.type === 'string' && source.type !== '' ? [source.type] : undefined;
}

function addBound(
  schema: Record<string, JsonValue | undefined>,
  source: JsonObject,
  bound: string,
  exclusive: string,
): void {
  if (source[bound] !== undefined) schema[source[exclusive] === true ? exclusive : bound] = source[bound];
}

function mapMembers(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, isObject(property) ? toJsonSchema(property) : {}]),
  );
}
