/** Label and field selectors, parsed once into a function. The grammar is that of `apimachinery` (labels and fields packages). */
import type { JsonObject } from './json.ts';
import { objectAt } from './json.ts';
import { badRequest } from './status-errors.ts';

export type Matches = (object: JsonObject) => boolean;

/** Reads one selectable field as text; absent is the empty text, as in kube-apiserver. */
export type FieldReader = (object: JsonObject) => string;

const REQUIREMENT =
  /^\s*(?:(!)\s*([^\s!=,()<>]+)|([^\s!=,()<>]+)\s*(?:(==|=|!=|>|<)\s*([^\s,()=!<>]*)|\s(in|notin)\s*\(([^()]*)\))?)\s*(?:,|$)/;

/**
 * Parses a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas.
 * @returns undefined when everything is selected
 * @throws ApiStatusError 400 for text that is not a selector
 */
export function parseLabelSelector(text: string | undefined): Matches | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const tests: ((labels: JsonObject) => boolean)[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const match = REQUIREMENT.exec(rest);
    if (match === null)
      throw badRequest(`unable to parse requirement: found '${rest.trim()}', expected a label requirement`);
    tests.push(labelTest(match));
    rest = rest.slice(match[0].length);
    if (rest.trim() === '' && match[0].trimEnd().endsWith(',')) {
      throw badRequest(`found '', expected: identifier after ','`);
    }
  }
  return object => {
    const labels = objectAt(objectAt(object, 'metadata'), 'labels');
    return tests.every(test => test(labels));
  };
}

function labelTest(match: RegExpExecArray): (labels: JsonObject) => boolean {
  const [, not, absentKey, key = '', operator, value = '', setOperator, setText = ''] = match;
  if (not !== undefined && absentKey !== undefined) return labels => labels[absentKey] === undefined;
  if (setOperator !== undefined) {
    const values = new Set(setText.split(',').map(item => item.trim()));
    return setOperator === 'in'
      ? labels => values.has(asText(labels[key]))
      : labels => labels[key] === undefined || !values.has(asText(labels[key]));
  }
  switch (operator) {
    case undefined:
      return labels => labels[key] !== undefined;
    case '!=':
      return labels => labels[key] !== value;
    case '>':
    case '<': {
      if (!/^-?\d+$/.test(value))
        throw badRequest(
          `unable to parse requirement: values[0]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`,
        );
      const bound = Number(value);
      return labels => {
        const label = labels[key];
        if (typeof label !== 'string' || !/^-?\d+$/.test(label)) return false;
        return operator === '>' ? Number(label) > bound : Number(label) < bound;
      };
    }
    default:
      return labels => labels[key] === value;
  }
}

/** A label's value; `\0` (no label can hold it) for an absent label. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : '\0';
}

/** One requirement of a field selector. */
export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/**
 * Parses a field selector: `a=b`, `a==b`, `a!=b`, joined by commas; `\` escapes `,`, `=` and itself.
 * @throws ApiStatusError 400 for text that is not a selector or a field that the resource cannot be selected by
 */
export function parseFieldSelector(
  text: string | undefined,
  fields: ReadonlyMap<string, FieldReader>,
): { matches: Matches; requirements: readonly FieldRequirement[] } | undefined {
  if (text === undefined || text === '') return undefined;
  const requirements = splitTerms(text)
    .filter(term => term !== '')
    .map(parseTerm);
  const tests = requirements.map(({ field, equal, value }): Matches => {
    const read = fields.get(field);
    if (read === undefined) throw badRequest(`field label not supported: ${field}`);
    return equal ? object => read(object) === value : object => read(object) !== value;
  });
  if (tests.length === 0) return undefined;
  const [only] = tests;
  const matches: Matches =
    only !== undefined && tests.length === 1 ? only : object => tests.every(test => test(object));
  return { matches, requirements };
}

function splitTerms(text: string): string[] {
  return text.match(/(?:\\.|[^,\\])+/g) ?? [];
}

function parseTerm(term: string): FieldRequirement {
  const match = /^((?:\\.|[^=!\\])*)(==|!=|=)((?:\\.|[^\\])*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, value = ''] = match;
  return { field, equal: operator !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}
