/** What is wrong with a field of a scenario, for its author. */
import type { z } from 'zod';
import { suggestion } from '../../shared/domain/nearest-name.ts';
import { EXPECTATION_FIELDS, SPEC_FIELDS, STEP_FIELDS } from './schema.ts';

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

/** An unknown field at the end of `path`, with the nearest that the format has there. */
export function describeUnknown(path: readonly PropertyKey[], field: string): string {
  const [part, list] = path;
  if (path.length === 1 && part === 'spec') return `unknown field${suggestion(field, SPEC_FIELDS)}`;
  if (path.length !== 3) return 'unknown field';
  const known = list === 'steps' ? STEP_FIELDS : list === 'expect' ? EXPECTATION_FIELDS : [];
  return `unknown field${suggestion(field, known)}`;
}

/** Short, as it would stand in JSON. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)} …` : text;
}
