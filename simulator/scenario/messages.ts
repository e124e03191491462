/** What is wrong with a field of a scenario, for its author. */
import * as z from 'zod';
import { suggestion } from '../../shared/domain/nearest-name.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  record: 'an object',
  object: 'an object',
  array: 'a list',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** In the place of zod's own text; undefined: that one, or the schema's, stands. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const wanted = TYPES[issue.expected] ?? issue.expected;
    return issue.input === undefined
      ? `is missing; it must be ${wanted}`
      : `must be ${wanted}, not ${shown(issue.input)}`;
  }
  if (issue.code === 'invalid_value') {
    const known = issue.values.map(String);
    const hint = typeof issue.input === 'string' ? suggestion(issue.input, known) : '';
    return `must be ${known.length > 1 ? 'one of ' : ''}${known.join(', ')}, not ${shown(issue.input)}${hint}`;
  }
  if (issue.code === 'too_small') {
    return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
  }
  return undefined;
}

/** An unknown field of what stands at `path`, with the nearest that the schema has there. */
export const describeUnknown = (schema: z.core.$ZodType, path: readonly PropertyKey[], field: string): string =>
  `unknown field${suggestion(field, fieldsAt(schema, path))}`;

/** The fields that the schema has at a path. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional)
    return fieldsAt(schema.def.innerType, path);
  if (schema instanceof z.ZodPipe) return fieldsAt(schema.def.in, path);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap(option => fieldsAt(option, path));
  const [key, ...rest] = path;
  if (schema instanceof z.ZodArray) return fieldsAt(schema.def.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(schema.shape);
  const field = schema.shape[String(key)];
  return field === undefined ? [] : fieldsAt(field, rest);
}

/** Short, as it would stand in JSON. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)} …` : text;
}
