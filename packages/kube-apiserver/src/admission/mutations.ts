/** One mutation of a MutatingAdmissionPolicy: an expression that makes a JSON patch or a configuration to apply. */
import { mergeValues } from '../apply/merge-values.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, objectAt, textAt, without } from '../json.ts';
import { jsonPatch } from '../patch/json.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import { UNTYPED, fieldSchema } from '../patch/merge-schema.ts';
import { ApiStatusError } from '../types.ts';
import { Message, toJson } from './cel.ts';
import type { Scope } from './scope.ts';

export type Mutated =
  { readonly kind: 'mutated'; readonly object: JsonObject } | { readonly kind: 'error'; readonly message: string };

/** The object after the mutation, in the version of `object`. */
export function mutate(object: JsonObject, mutation: JsonObject, scope: Scope, schema: MergeSchema): Mutated {
  const isPatch = textAt(mutation, 'patchType') === 'JSONPatch';
  const expression = textAt(objectAt(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration'), 'expression') ?? '';
  const result = scope.evaluate(expression);
  if (result.kind !== 'value') {
    return error(`expression '${expression.trim()}' resulted in error: ${result.message}`);
  }
  try {
    return isPatch ? patched(object, result.value) : applied(object, result.value, schema);
  } catch (thrown) {
    if (thrown instanceof TypeError || thrown instanceof ApiStatusError) return error(thrown.message);
    throw thrown;
  }
}

function patched(object: JsonObject, value: unknown): Mutated {
  if (!isArray(value)) return error('JSON Patch: the expression must be a list of JSONPatch');
  let current = object;
  for (const item of value) {
    if (!isMessage(item, 'JSONPatch')) return error('JSON Patch: the expression must be a list of JSONPatch');
    const operation = toJson(item);
    if (!isObject(operation)) return error('JSON Patch: an operation must have fields');
    try {
      current = jsonPatch(current, [operation]);
    } catch (refused) {
      if (!(refused instanceof ApiStatusError)) throw refused;
      // A `test` that fails is how a patch says that it does not apply.
      if (operation.op === 'test') return { kind: 'mutated', object };
      return error(`JSON Patch: operation ${JSON.stringify(operation)} cannot be applied`);
    }
  }
  return { kind: 'mutated', object: current };
}

function isMessage(value: unknown, type: string): value is Message {
  return value instanceof Message && value.type === type;
}

function applied(object: JsonObject, value: unknown, schema: MergeSchema): Mutated {
  if (!isMessage(value, 'Object')) return error('the expression must be an Object');
  const configuration = toJson(value);
  if (!isObject(configuration)) return error('the expression must be an Object');
  const atomic = atomicParts(configuration, schema, '');
  if (atomic.length > 0) {
    return error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    );
  }
  const merged = mergeValues(object, without(configuration, 'apiVersion', 'kind'), schema);
  return isObject(merged) ? { kind: 'mutated', object: merged } : error('the expression must be an Object');
}

/** Paths of what an apply would replace as a whole: a policy must not, it does not know what else is in it. */
function atomicParts(value: JsonValue, schema: MergeSchema, path: string): readonly string[] {
  if (isArray(value)) {
    if (schema.list !== 'set' && schema.list !== 'map') return [path];
    return value.flatMap(item => atomicParts(item, schema.items ?? UNTYPED, `${path}[]`));
  }
  if (!isObject(value)) return [];
  if (schema.atomic === true) return [path];
  return Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : atomicParts(field, fieldSchema(schema, key), `${path}.${key}`),
  );
}

function error(message: string): Mutated {
  return { kind: 'error', message };
}
