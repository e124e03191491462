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
  if (text === undefined || /^[ \t\r\n]*$/.test(text)) return undefined;
  const parser = new Parser(text);
  const tests = parser.parse();
  const matches = (object: JsonObject): boolean => {
    const labels = labelsOf(object);
    return tests.every(test => test(labels));
  };
  return { matches, equality: parser.equality };
}

const labelsOf = (object: JsonObject): JsonObject => objectAt(objectAt(object, 'metadata'), 'labels');

const TOKEN = /[ \t\r\n]*(==|!=|[=!<>(),]|[^ \t\r\n=!<>(),]+)/y;
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
    const key = this.#identifier();
    refuse(invalid('<nil>', key, complainAboutQualifiedName(key)));
    // What follows a negated key is refused where the next requirement is looked for.
    if (negated) return labels => valueOf(labels, key) === undefined;
    if (this.#peek() === '' || this.#peek() === ',') return labels => valueOf(labels, key) !== undefined;
    return this.#comparison(key, this.#next());
  }

  #comparison(key: string, operator: string): LabelTest {
    switch (operator) {
      case 'in': {
        const values = this.#values(key);
        return labels => values.has(valueOf(labels, key));
      }
      case 'notin': {
        const values = this.#values(key);
        return labels => !values.has(valueOf(labels, key));
      }
      case '=':
      case '==': {
        const value = this.#value(key);
        this.equality ??= { id: `label ${key}`, read: object => valueOf(labelsOf(object), key), value };
        return labels => valueOf(labels, key) === value;
      }
      case '!=': {
        const value = this.#value(key);
        return labels => valueOf(labels, key) !== value;
      }
      case '>':
      case '<':
        return this.#bound(key, operator);
      default:
        throw unparsable(operator, OPERATORS);
    }
  }

  #value(key: string): string {
    const value = this.#exactValue();
    refuse(invalidValues(key, [value]));
    return value;
  }

  #bound(key: string, operator: '<' | '>'): LabelTest {
    const text = this.#exactValue();
    const limit = integerOf(text);
    const complaints = limit === undefined ? ["for 'Gt', 'Lt' operators, the value must be an integer"] : [];
    refuse([...invalid('values[0]', text, complaints), ...invalidValues(key, [text])]);
    return labels => {
      const label = integerOf(valueOf(labels, key));
      if (label === undefined || limit === undefined) return false;
      return operator === '>' ? label > limit : label < limit;
    };
  }

  #exactValue(): string {
    return this.#peek() === '' || this.#peek() === ',' ? '' : this.#identifier();
  }

  #values(key: string): ReadonlySet<unknown> {
    const open = this.#next();
    if (open !== '(') throw badRequest(`unable to parse requirement: found '${open}' expected: '('`);
    const values = new Set(this.#listedValues());
    refuse(invalidValues(key, [...values].toSorted()));
    return values;
  }

  #listedValues(): string[] {
    const first = this.#peek();
    if (first !== ',' && first !== ')' && SYMBOLS.has(first)) throw unparsable(first, "',', ')' or identifier");
    const values: string[] = [];
    for (;;) {
      const isEmpty = this.#peek() === ',' || this.#peek() === ')';
      values.push(isEmpty ? '' : this.#identifier("',', or identifier"));
      const separator = this.#next();
      if (separator === ')') return values;
      if (separator !== ',') throw unparsable(separator, "',' or ')'");
    }
  }

  #identifier(expected = 'identifier'): string {
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

function refuse(faults: readonly string[]): void {
  const [first] = faults;
  if (first === undefined) return;
  throw badRequest(`unable to parse requirement: ${faults.length === 1 ? first : `[${faults.join(', ')}]`}`);
}

function invalid(path: string, value: string, complaints: readonly string[]): string[] {
  return complaints.length === 0 ? [] : [`${path}: Invalid value: ${JSON.stringify(value)}: ${complaints.join('; ')}`];
}

const invalidValues = (key: string, values: readonly string[]): string[] =>
  values.flatMap((value, index) => invalid(`values[${index}][${key}]`, value, complainAboutLabelValue(value)));

/** A signed 64-bit number. */
function integerOf(text: unknown): bigint | undefined {
  if (typeof text !== 'string' || !/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The value of a label of one's own: `constructor` is a label like any other. */
function valueOf(labels: JsonObject, key: string): unknown {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
