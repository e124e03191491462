/** Field selectors as texts: `a=b`, `a==b`, `a!=b`, joined by commas; `\` escapes a comma, an equals sign and itself. */
import type { JsonObject } from '../json.ts';
import { badRequest } from '../status-errors.ts';
import type { Matches } from './label-text.ts';

/** Reads one selectable field as text; absent is the empty text, as in kube-apiserver. */
export type FieldReader = (object: JsonObject) => string;

/**
 * A field selector as a test of objects.
 * @returns undefined when everything is selected
 * @throws ApiStatusError 400 for text that is not a selector, or a field that the resource cannot be selected by
 */
export function parseFieldSelector(
  text: string | undefined,
  fields: ReadonlyMap<string, FieldReader>,
): Matches | undefined {
  if (text === undefined || text === '') return undefined;
  const terms = text.match(/(?:\\.|[^,\\])+/g) ?? [];
  const tests = terms.map(term => parseTerm(term, fields));
  const [only] = tests;
  return tests.length === 1 ? only : object => tests.every(test => test(object));
}

function parseTerm(term: string, fields: ReadonlyMap<string, FieldReader>): Matches {
  const match = /^((?:\\.|[^=!\\])*)(==|!=|=)((?:\\.|[^\\])*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, escaped = ''] = match;
  const read = fields.get(field);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  const value = escaped.replaceAll(/\\([\\,=])/g, '$1');
  return operator === '!=' ? object => read(object) !== value : object => read(object) === value;
}
