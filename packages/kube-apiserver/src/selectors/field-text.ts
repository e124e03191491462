/** Field selectors as texts: `a=b`, `a==b`, `a!=b`, joined by commas; `\` escapes a comma, an equals sign and itself. */
import type { JsonObject } from '../json.ts';
import { badRequest } from '../status-errors.ts';
import type { Equality } from '../store/value-index.ts';
import type { Matches, Selection } from './label-text.ts';

/** Reads one selectable field as text; absent is the empty text, as in kube-apiserver. */
export type FieldReader = (object: JsonObject) => string;

/**
 * A field selector as what it selects.
 * @returns undefined when everything is selected
 * @throws ApiStatusError 400 for text that is not a selector, or a field that the resource cannot be selected by
 */
export function parseFieldSelector(
  text: string | undefined,
  fields: ReadonlyMap<string, FieldReader>,
): Selection | undefined {
  if (text === undefined || text === '') return undefined;
  const terms = text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
  const parsed = terms.toSorted().map(term => parseTerm(term, text, fields));
  return {
    matches: object => parsed.every(({ matches }) => matches(object)),
    equality: parsed.find(({ equality }) => equality !== undefined)?.equality,
  };
}

/** Each object has values of its own for these: an index of them would be as long as the collection. */
const DISTINCT_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

function parseTerm(term: string, selector: string, fields: ReadonlyMap<string, FieldReader>): Selection {
  const match = /^(.*?)(==|!=|=)(.*)$/s.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  const [, field = '', operator, escaped = ''] = match;
  const value = unescaped(escaped);
  const read = fields.get(field);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  if (operator === '!=') return { matches: object => read(object) !== value, equality: undefined };
  const equality: Equality = { id: `field ${field}`, read, value };
  const matches: Matches = object => read(object) === value;
  return { matches, equality: DISTINCT_FIELDS.includes(field) ? undefined : equality };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.?)|[,=]/gsu, (found: string, character: string | undefined) => {
    // The message has the character's number.
    if (character === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    if (!/^[\\,=]$/.test(character)) throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    return character;
  });
}
