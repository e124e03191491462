/**
 * Label selectors as text: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, with commas between; all of them must be
 * met. The grammar of `kubectl -l`; `<` and `>` compare whole numbers.
 */
import { quoteCut } from './cut-text.ts';
import { isMet, valueOf, type LabelSelectorRequirement } from './label-selector.ts';

/** One requirement; `GreaterThan` and `LessThan` have one value, a whole number. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelSelectorRequirement['operator'] | 'GreaterThan' | 'LessThan';
  readonly values: readonly string[];
}

export type ParsedLabelSelector =
  | { readonly ok: true; readonly requirements: readonly LabelRequirement[] }
  | { readonly ok: false; readonly message: string };

const TOKEN = /\s*(?:(==|!=|[=!<>(),])|([^\s=!<>(),]+))/y;
const QUALIFIED_NAME = /^(?:(?<prefix>[^/]*)\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;

class SelectorError extends Error {}

/** Reads a selector; empty text selects everything. Never throws. */
export function parseLabelSelector(text: string): ParsedLabelSelector {
  try {
    return { ok: true, requirements: parseRequirements(new Tokens(text)) };
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return { ok: false, message: error.message };
  }
}

/** Whether all requirements are met. `!=` and `notin` also are by an absent key. */
export function selectsLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every(requirement => meets(requirement, labels));
}

function meets({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  if (operator !== 'GreaterThan' && operator !== 'LessThan') return isMet({ key, operator, values }, labels);
  const value = valueOf(labels, key);
  if (value === undefined || !/^[+-]?\d+$/.test(value)) return false;
  const [limit = '0'] = values;
  return operator === 'GreaterThan' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
}

/** The tokens of a text with the place of the next one. */
class Tokens {
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  peek(): string | undefined {
    return this.#tokens[this.#next];
  }

  take(): string | undefined {
    return this.#tokens[this.#next++];
  }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null) throw new SelectorError(`cannot be read: ${quoteCut(text)}`);
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

function parseRequirements(tokens: Tokens): LabelRequirement[] {
  const requirements: LabelRequirement[] = [];
  if (tokens.peek() === undefined) return requirements;
  for (;;) {
    requirements.push(parseRequirement(tokens));
    const separator = tokens.take();
    if (separator === undefined) return requirements;
    if (separator !== ',') throw new SelectorError(`expected a comma, found ${quoteCut(separator)}`);
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  const negated = tokens.peek() === '!';
  if (negated) tokens.take();
  const key = checkKey(tokens.take());
  if (negated) return { key, operator: 'DoesNotExist', values: [] };
  const operator = tokens.peek();
  if (operator === undefined || operator === ',') return { key, operator: 'Exists', values: [] };
  tokens.take();
  switch (operator) {
    case '=':
    case '==':
      return { key, operator: 'In', values: [parseValue(tokens)] };
    case '!=':
      return { key, operator: 'NotIn', values: [parseValue(tokens)] };
    case 'in':
      return { key, operator: 'In', values: parseValues(tokens) };
    case 'notin':
      return { key, operator: 'NotIn', values: parseValues(tokens) };
    case '>':
    case '<': {
      const value = parseValue(tokens);
      if (!/^[+-]?\d+$/.test(value))
        throw new SelectorError(`${operator} compares whole numbers, got ${quoteCut(value)}`);
      return { key, operator: operator === '>' ? 'GreaterThan' : 'LessThan', values: [value] };
    }
    default:
      throw new SelectorError(
        `expected =, ==, !=, in, notin, < or > after ${quoteCut(key)}, found ${quoteCut(operator)}`,
      );
  }
}

const isWord = (token: string | undefined): token is string => token !== undefined && !/^[=!<>(),]/.test(token);

/** An absent value is the empty one, as in `a=`. */
function parseValue(tokens: Tokens): string {
  if (!isWord(tokens.peek())) return '';
  return checkValue(tokens.take() ?? '');
}

function parseValues(tokens: Tokens): string[] {
  if (tokens.take() !== '(') throw new SelectorError('expected "(" after in or notin');
  const values = [parseValue(tokens)];
  for (let token = tokens.take(); token !== ')'; token = tokens.take()) {
    if (token !== ',') throw new SelectorError('expected "," or ")" in a list of values');
    values.push(parseValue(tokens));
  }
  return values;
}

function checkKey(key: string | undefined): string {
  if (!isWord(key))
    throw new SelectorError(`expected a label key, found ${key === undefined ? 'the end' : quoteCut(key)}`);
  const match = QUALIFIED_NAME.exec(key);
  const prefix = match?.groups?.['prefix'];
  if (match === null || (prefix !== undefined && (prefix.length > 253 || !SUBDOMAIN.test(prefix)))) {
    throw new SelectorError(`${quoteCut(key)} is not a label key`);
  }
  return key;
}

function checkValue(value: string): string {
  if (!LABEL_VALUE.test(value)) throw new SelectorError(`${quoteCut(value)} is not a label value`);
  return value;
}
