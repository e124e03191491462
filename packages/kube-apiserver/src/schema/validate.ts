/** Schema validation of custom resources: Ajv on the translated schema, complaints in the words of kube-apiserver. */
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { JsonObject, JsonValue } from '../json.ts';
import { EMPTY_OBJECT, without } from '../json.ts';
import type { Transition } from '../resources/resource-rules.ts';
import type { Cause } from '../status-errors.ts';
import { matchesPattern } from './go-regexp.ts';
import { toJsonSchema } from './json-schema.ts';
import type { Structural } from './structural.ts';
import { toCauses } from './violations.ts';

/** A Go duration (or a plain zero), or whole numbers of named units: what `format: duration` means in Kubernetes. */
const DURATION =
  /^([-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)|(\d+\s*(ns|nano|us|µs|μs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)s?\s*)+)$/;

const { date, email, hostname, ipv4, ipv6, uri, uuid, byte, int32, int64, float, double, password } = fullFormats;

/** Ajv tells compiled patterns apart by `toString`. */
const goRegExp = Object.assign(
  (pattern: string) => ({ test: (text: string) => matchesPattern(pattern, text), toString: () => pattern }),
  { code: 'goRegExp' },
);

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  messages: false,
  logger: false,
  ownProperties: true,
  code: { regExp: goRegExp },
  formats: {
    'date-time': fullFormats['date-time'],
    duration: DURATION,
    date,
    email,
    hostname,
    ipv4,
    ipv6,
    uri,
    uuid,
    byte,
    int32,
    int64,
    float,
    double,
    password,
  },
});

/** What a schema has against a value on its own, such as a default. */
export function complainAboutValue(value: JsonValue, schema: JsonObject, path: string): Cause[] {
  const validate = ajv.compile(toJsonSchema(schema));
  return validate(value) ? [] : toCauses(validate.errors ?? [], { root: path, rootInMessages: '', old: undefined });
}

/** One validator for each part that changes on its own: the object as such (`''`), and each of its top-level fields. */
type Validators = Map<string, ValidateFunction>;

const compiled = new WeakMap<Structural, Validators>();

/** Compiled when first needed: compiling costs milliseconds, and most schemas of a cluster are never written to. */
function validatorOf(schema: Structural, part: string): ValidateFunction {
  let validators = compiled.get(schema);
  if (validators === undefined) compiled.set(schema, (validators = new Map()));
  let validate = validators.get(part);
  if (validate === undefined) validators.set(part, (validate = ajv.compile(partSchema(schema, part))));
  return validate;
}

function partSchema(schema: Structural, part: string): JsonObject {
  const property = schema.properties.get(part);
  if (property !== undefined) return toJsonSchema(property.source);
  const shell = Object.fromEntries([...schema.properties.keys()].map(key => [key, EMPTY_OBJECT]));
  return { ...toJsonSchema(without(schema.source, 'properties')), properties: shell };
}

/**
 * What the schema has against an object. Parts that are the old object's are not complained about, so that an object from before
 * a schema was tightened can still be changed elsewhere.
 */
export function complainAboutSchema(
  { next: object, old, subresource }: Pick<Transition, 'next' | 'old' | 'subresource'>,
  schema: Structural,
): Cause[] {
  const causes: Cause[] = [];
  const check = (part: string, value: JsonValue, oldValue: JsonValue | undefined) => {
    const validate = validatorOf(schema, part);
    const rootInMessages = subresource === 'status' ? '' : part;
    if (!validate(value))
      causes.push(...toCauses(validate.errors ?? [], { root: part, rootInMessages, old: oldValue }));
  };
  check('', object, old);
  for (const key of schema.properties.keys()) {
    const value = object[key];
    if (key !== 'metadata' && value !== undefined && value !== old?.[key]) check(key, value, old?.[key]);
  }
  return causes;
}
