/** JSON as the rules of a custom resource see it: typed by the schema, with field names that are identifiers. */
import type { JsonValue } from '../json.ts';
import { isArray, isObject } from '../json.ts';
import type { Structural } from './structural.ts';

/** Words of CEL that a field cannot be called; they are written `__word__` in rules. */
const RESERVED = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** Integers are CEL integers, objects are maps, timestamps are dates. Without a schema, the value decides. */
export function toCelValue(value: JsonValue, schema: Structural | undefined): unknown {
  if (isArray(value)) return value.map(item => toCelValue(item, schema?.items));
  if (isObject(value)) {
    const members = new Map<string, unknown>();
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      const property = schema?.properties.get(key);
      const member = property ?? (schema === undefined || schema.additional === 'any' ? undefined : schema.additional);
      members.set(property === undefined ? key : identifier(key), toCelValue(field, member));
    }
    return members;
  }
  if (typeof value === 'number') return isCelInteger(value, schema) ? BigInt(value) : value;
  if (typeof value === 'string' && schema?.format === 'date-time') {
    const epochMs = Date.parse(value);
    return Number.isNaN(epochMs) ? value : new Date(epochMs);
  }
  return value;
}

function isCelInteger(value: number, schema: Structural | undefined): boolean {
  return Number.isInteger(value) && schema?.type !== 'number';
}

/** A field name as rules spell it. */
function identifier(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
