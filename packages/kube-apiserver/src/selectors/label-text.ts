/** Label selectors as texts: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. */
import type { JsonObject } from '../json.ts';
import { objectAt } from '../json.ts';
import { complainAboutLabelValue, complainAboutQualifiedName } from '../names.ts';
import { badRequest } from '../status-errors.ts';
import type { Equality } from '../store/value-index.ts';

export type Matches = (object: JsonObject) => boolean;

/** A selector as a test of objects, and one of its requirements that an index can answer, if there is such. */
export interface Selection {
  readonly matches: Matches;
  readonly equality: Equality | undefined;
}

type LabelTest = (labels: JsonObject) => boolean;

/**
 * A label selector as what it selects.
 * @returns undefined when everything is selected
 * @throws ApiStatusError 400 for text that is not a selector
 */
export function parseLabelSelector(text: string | undefined): Selection | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const parser = new Parser(text);
  const tests = parser.parse();
  const matches = (object: JsonObject): boolean => {
    const labels = labelsOf(object);
    return tests.every(test => test(labels));
  };
  return { matches, equality: parser.equality };
}

const labelsOf = (object: JsonObject): JsonObject => objectAt(objectAt(object, 'metadata'), 'labels');

const TOKEN = /\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)/y;
const SYMBOLS = new Set(['=', '==', '!=', '!', '<', '>', '(', ')', ',', '']);
const OPERATORS = 'in, notin, =, ==, !=, gt, lt';

/** A recursive descent over the tokens; the empty token is the end of the text. */
class Parser {
  readonly #tokens: string[] = [];
  #at = 0;
  /** The first requirement of the form `a=b`. */
  equality: Equality | undefined;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) this.#tokens.push(match[1] ?? '');
  }

  parse(): LabelTest[] {
    const tests: LabelTest[] = [];
    while (this.#peek() !== '') {
      if (!this.#startsRequirement()) {
        throw badRequest(`found '${this.#peek()}', expected: !, identifier, or 'end of string'`);
      }
      tests.push(this.#requirement());
      const separator = this.#next();
      if (separator === '') break;
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) throw badRequest(`found '${this.#peek()}', expected: identifier after ','`);
    }
    return tests;
  }

  #requirement(): LabelTest {
    const negated = this.#peek() === '!';
    if (negated) this.#next();
    const key = this.#identifier('identifier');
    check('key', key, complainAboutQualifiedName(key));
    const isAlone = this.#peek() === '' || this.#peek() === ',';
    if (negated) {
      if (!isAlone) throw unparsable(this.#peek(), OPERATORS);
      return labels => valueOf(labels, key) === undefined;
    }
    if (isAlone) return labels => valueOf(labels, key) !== undefined;
    return this.#comparison(key, this.#next());
  }

  #comparison(key: string, operator: string): LabelTest {
    switch (operator) {
      case 'in': {
        const values = this.#values();
        return labels => values.has(valueOf(labels, key));
      }
      case 'notin': {
        const values = this.#values();
        return labels => !values.has(valueOf(labels, key));
      }
      case '=':
      case '==': {
        const value = this.#value();
        this.equality ??= { id: `label ${key}`, read: object => valueOf(labelsOf(object), key), value };
        return labels => valueOf(labels, key) === value;
      }
      case '!=': {
        const value = this.#value();
        return labels => valueOf(labels, key) !== value;
      }
      case '>':
      case '<':
        return boundTest(key, operator, this.#value());
      default:
        throw unparsable(operator, OPERATORS);
    }
  }

  #value(): string {
    if (this.#peek() === '' || this.#peek() === ',') return '';
    const value = this.#identifier('identifier');
    check('values[0]', value, complainAboutLabelValue(value));
    return value;
  }

  #values(): ReadonlySet<unknown> {
    const open = this.#next();
    if (open !== '(') throw badRequest(`unable to parse requirement: found '${open}' expected: '('`);
    if (this.#peek() === '') throw unparsable('', "',', ')' or identifier");
    const values = new Set<string>();
    for (;;) {
      const isEmpty = this.#peek() === ',' || this.#peek() === ')';
      values.add(isEmpty ? '' : this.#identifier("',', or identifier"));
      const separator = this.#next();
      if (separator === ')') return values;
      if (separator !== ',') throw unparsable(separator, "',' or ')'");
    }
  }

  #identifier(expected: string): string {
    const token = this.#next();
    if (SYMBOLS.has(token)) throw unparsable(token, expected);
    return token;
  }

  #startsRequirement(): boolean {
    return this.#peek() === '!' || !SYMBOLS.has(this.#peek());
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #next(): string {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }
}

function unparsable(found: string, expected: string) {
  return badRequest(`unable to parse requirement: found '${found}', expected: ${expected}`);
}

function check(path: string, value: string, complaints: readonly string[]): void {
  if (complaints.length === 0) return;
  throw badRequest(
    `unable to parse requirement: ${path}: Invalid value: ${JSON.stringify(value)}: ${complaints.join('; ')}`,
  );
}

const INTEGER = /^[+-]?\d+$/;

function boundTest(key: string, operator: '<' | '>', text: string): LabelTest {
  const complaints = INTEGER.test(text) ? [] : ["for 'Gt', 'Lt' operators, the value must be an integer"];
  check('values[0]', text, complaints);
  const bound = Number(text);
  return labels => {
    const label = valueOf(labels, key);
    if (typeof label !== 'string' || !INTEGER.test(label)) return false;
    return operator === '>' ? Number(label) > bound : Number(label) < bound;
  };
}

/** The value of a label of one's own: `constructor` is a label like any other. */
function valueOf(labels: JsonObject, key: string): unknown {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
