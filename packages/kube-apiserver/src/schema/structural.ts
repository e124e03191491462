/** The OpenAPI v3 schema of a custom resource, compiled once into the form that pruning, defaulting and rules walk. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';
import { createMemory } from '../memory.ts';
import { badRequest } from '../status-errors.ts';

/** One entry of `x-kubernetes-validations`, as written. */
export interface RuleText {
  readonly rule: string;
  readonly message: string | undefined;
  readonly messageExpression: string | undefined;
  readonly reason: string | undefined;
  readonly fieldPath: string | undefined;
  readonly optionalOldSelf: boolean;
}

export interface Structural {
  /** The schema that this was compiled from. */
  readonly source: JsonObject;
  readonly type: string | undefined;
  readonly format: string | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Schema of members that `properties` does not name; `any` for `additionalProperties: true`. */
  readonly additional: Structural | 'any' | undefined;
  readonly items: Structural | undefined;
  readonly nullable: boolean;
  readonly preservesUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly defaultValue: JsonValue | undefined;
  readonly rules: readonly RuleText[];
  readonly list: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  readonly atomicMap: boolean;
  /** What is in here or below: lets walks skip whole parts. */
  readonly within: {
    readonly defaults: boolean;
    readonly rules: boolean;
    readonly transitions: boolean;
    readonly lists: boolean;
  };
}

const MAX_SCHEMAS = 500;
const compiled = createMemory<Structural>(MAX_SCHEMAS);

/** The compiled schema. Compiled once per text, however many servers serve it (a simulation starts hundreds). */
export function compileSchema(source: JsonObject): Structural {
  return compiled.get(JSON.stringify(source), () => compile(source));
}

function compile(source: JsonObject): Structural {
  const properties = new Map<string, Structural>();
  for (const [name, property] of Object.entries(objectAt(source, 'properties'))) {
    if (isObject(property)) properties.set(name, compile(property));
  }
  const { additionalProperties, items } = source;
  const additional = isObject(additionalProperties)
    ? compile(additionalProperties)
    : additionalProperties === true
      ? 'any'
      : undefined;
  const itemSchema = isObject(items) ? compile(items) : undefined;
  const rules = arrayAt(source, 'x-kubernetes-validations').filter(isObject).map(parseRule);
  const list = listType(source);
  const children = [...properties.values()];
  if (additional !== undefined && additional !== 'any') children.push(additional);
  if (itemSchema !== undefined) children.push(itemSchema);
  return {
    source,
    type: textAt(source, 'type'),
    format: textAt(source, 'format'),
    properties,
    additional,
    items: itemSchema,
    nullable: source.nullable === true,
    preservesUnknown: source['x-kubernetes-preserve-unknown-fields'] === true,
    embedded: source['x-kubernetes-embedded-resource'] === true,
    intOrString: source['x-kubernetes-int-or-string'] === true,
    defaultValue: source.default,
    rules,
    list,
    keys: arrayAt(source, 'x-kubernetes-list-map-keys').filter(key => typeof key === 'string'),
    atomicMap: source['x-kubernetes-map-type'] === 'atomic',
    within: {
      defaults: source.default !== undefined || children.some(child => child.within.defaults),
      rules: rules.length > 0 || children.some(child => child.within.rules),
      transitions: rules.some(usesOldSelf) || children.some(child => child.within.transitions),
      lists: list !== 'atomic' || children.some(child => child.within.lists),
    },
  };
}

function parseRule(rule: JsonObject): RuleText {
  return {
    rule: textAt(rule, 'rule') ?? '',
    message: textAt(rule, 'message'),
    messageExpression: textAt(rule, 'messageExpression'),
    reason: textAt(rule, 'reason'),
    fieldPath: textAt(rule, 'fieldPath'),
    optionalOldSelf: rule.optionalOldSelf === true,
  };
}

/** A transition rule compares with the stored value, so it is about updates only. */
export function usesOldSelf({ rule }: RuleText): boolean {
  return /\boldSelf\b/.test(rule);
}

function listType(source: JsonObject): 'atomic' | 'set' | 'map' {
  const list = source['x-kubernetes-list-type'] ?? 'atomic';
  if (list === 'atomic' || list === 'set' || list === 'map') return list;
  throw badRequest(`x-kubernetes-list-type must be atomic, set or map, not ${JSON.stringify(list)}`);
}

/** The schema of a member of an object; undefined for one that the schema does not know. */
export function memberSchema(schema: Structural, key: string): Structural | 'any' | undefined {
  return schema.properties.get(key) ?? schema.additional;
}
