/** CEL as admission policies write it: their variables, message literals, and the way back from CEL to JSON. */
import { Optional, ParseError } from '@marcbachmann/cel-js';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Expression } from '../schema/cel-environment.ts';
import { createCompiler, kubernetesEnvironment } from '../schema/cel-environment.ts';
import { toCelValue } from '../schema/cel-values.ts';
import { withoutMessageLiterals } from './message-literals.ts';

/** What policies can name. `authorizer` is missing: this server's core does not know who may do what. */
const VARIABLES = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'variables'];

/** A message that an expression made: `JSONPatch{…}`, `Object.spec{…}`. */
export class Message {
  readonly type: string;
  readonly fields: unknown;
  constructor(type: string, fields: unknown) {
    this.type = type;
    this.fields = fields;
  }
}

/** `jsonpatch.escapeKey`, the only member of its library. */
class JsonPatchLibrary {
  readonly name = 'jsonpatch';
}

const environment = kubernetesEnvironment(VARIABLES)
  .registerType('Message', Message)
  .registerFunction('newMessage(string, dyn): dyn', (type: string, fields: unknown) => new Message(type, fields))
  .registerType('JsonPatchLibrary', JsonPatchLibrary)
  .registerFunction('JsonPatchLibrary.escapeKey(string): string', (_: JsonPatchLibrary, key: string) =>
    key.replaceAll('~', '~0').replaceAll('/', '~1'),
  )
  .registerConstant('jsonpatch', 'JsonPatchLibrary', new JsonPatchLibrary());
const compile = createCompiler(environment);

/** An expression of an admission policy. */
export function compilePolicyExpression(text: string): Expression {
  return compile(withoutMessageLiterals(text));
}

/** What is wrong with the syntax of an expression; undefined when nothing is. */
export function syntaxErrorOf(text: string): string | undefined {
  try {
    environment.parse(withoutMessageLiterals(text));
    return undefined;
  } catch (error) {
    if (error instanceof ParseError) return error.summary;
    throw error;
  }
}

const values = new WeakMap<JsonObject, unknown>();

/** An object as policies see it: by its JSON, without a schema. `null` where there is none. */
export function celObject(object: JsonObject | undefined): unknown {
  if (object === undefined) return null;
  const known = values.get(object);
  if (known !== undefined) return known;
  const value = toCelValue(object, undefined);
  values.set(object, value);
  return value;
}

/** A value of CEL as JSON; fields with an empty optional are left out. Throws a TypeError for what JSON cannot say. */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') {
    return value;
  }
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Message) return toJson(value.fields);
  if (value instanceof Optional) return value.hasValue() ? toJson(value.value()) : null;
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object') {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (value instanceof Map || prototype === Object.prototype || prototype === null) {
      const members: readonly (readonly [unknown, unknown])[] =
        value instanceof Map ? [...value] : Object.entries(value);
      return Object.fromEntries(
        members
          .filter(([, member]) => !(member instanceof Optional) || member.hasValue())
          .map(([key, member]) => [String(key), toJson(member)]),
      );
    }
  }
  throw new TypeError(`a value of CEL has no form in JSON: ${typeof value}`);
}
