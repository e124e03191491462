/** CEL with the functions that Kubernetes adds to it. */
import { Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { findAllPatterns, findPattern } from './go-regexp.ts';
import { createMemory } from '../memory.ts';
import { Quantity, parseQuantity } from './quantity.ts';

/** Errors of a rule that uses what this implementation of CEL does not have; everything else is the rule's own error. */
const UNSUPPORTED = new Set([
  'no_matching_overload',
  'no_such_overload',
  'unknown_variable',
  'invalid_macro_argument',
  'unsupported_type',
  'invalid_regular_expression',
]);

/** What a text was to become, by the error that says that it does not. */
const CONVERSIONS: ReadonlyMap<string, string> = new Map([
  ['int_conversion_error', 'int'],
  ['uint_conversion_error', 'uint'],
  ['double_conversion_error', 'double'],
  ['invalid_duration', 'google.protobuf.Duration'],
  ['invalid_timestamp', 'google.protobuf.Timestamp'],
]);

export type Evaluation =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'unsupported'; readonly message: string };

export type Expression = (variables: Record<string, unknown>) => Evaluation;

const MAX_EXPRESSIONS = 5000;

/** An expression over `self` and `oldSelf`: a rule of a custom resource. */
export const compileExpression = createCompiler(kubernetesEnvironment(['self', 'oldSelf']));

/** Compiles expressions of one environment. Each text is parsed once, however many servers and objects use it. */
export function createCompiler(environment: Environment): (text: string) => Expression {
  const expressions = createMemory<Expression>(MAX_EXPRESSIONS);
  return text => expressions.get(text, () => compile(environment, text));
}

function compile(environment: Environment, text: string): Expression {
  try {
    const evaluate = environment.parse(text);
    return variables => {
      try {
        return { kind: 'value', value: evaluate(variables) };
      } catch (error) {
        return failure(error);
      }
    };
  } catch (error) {
    const refused = failure(error);
    return () => refused;
  }
}

function failure(error: unknown): Evaluation {
  if (error instanceof ParseError) return { kind: 'unsupported', message: error.summary };
  // Whatever else comes out of the library is a gap in it, not a statement about the object.
  if (!(error instanceof EvaluationError)) return { kind: 'unsupported', message: String(error) };
  return { kind: UNSUPPORTED.has(error.code) ? 'unsupported' : 'error', message: wordsOf(error) };
}

/** An error of evaluation in the words of cel-go. */
function wordsOf({ code, summary }: EvaluationError): string {
  switch (code) {
    case 'no_such_key':
      return summary.replace(/^No such key/, 'no such key');
    case 'index_out_of_bounds':
      return summary.replace(/^.*index (-?\d+) >= size.*$/, 'index out of bounds: $1');
    case 'modulo_by_zero':
      return 'modulus by zero';
    case 'numeric_overflow':
      return 'integer overflow';
    default: {
      const converted = CONVERSIONS.get(code);
      return converted === undefined ? summary : `type conversion error from 'string' to '${converted}'`;
    }
  }
}

/** CEL with the functions of Kubernetes and these variables, whose types are only known when they have a value. */
export function kubernetesEnvironment(variables: readonly string[]): Environment {
  const empty = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  return variables.reduce(
    (environment, name) => environment.registerVariable(name, 'dyn'),
    withQuantities(withLists(withStrings(empty))),
  );
}

function withStrings(to: Environment): Environment {
  return to
    .registerFunction('string.find(string): string', (text: string, pattern: string) =>
      search(() => findPattern(pattern, text)),
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
      search(() => findAllPatterns(pattern, text)),
    )
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      search(() => findAllPatterns(pattern, text, Number(limit))),
    )
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to_: string) =>
      text.replaceAll(from, () => to_),
    )
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => text.charAt(Number(index)));
}

/** That a pattern does not parse is the rule's own error. */
function search<Found>(find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    throw new EvaluationError(error instanceof Error ? error.message : String(error));
  }
}

function withLists(to: Environment): Environment {
  type List = readonly unknown[];
  return to
    .registerFunction('list.isSorted(): bool', (list: List) =>
      list.every((item, index) => index === 0 || !isLess(item, list[index - 1])),
    )
    .registerFunction('list.min(): dyn', (list: List) => list.reduce((a, b) => (isLess(b, a) ? b : a)))
    .registerFunction('list.max(): dyn', (list: List) => list.reduce((a, b) => (isLess(a, b) ? b : a)))
    .registerFunction('list.sum(): dyn', (list: List) => list.reduce(add, 0n))
    .registerFunction('list.indexOf(dyn): int', (list: List, item: unknown) => BigInt(list.indexOf(item)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: List, item: unknown) => BigInt(list.lastIndexOf(item)));
}

function withQuantities(to: Environment): Environment {
  return to
    .registerType('Quantity', Quantity)
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('quantity(string): Quantity', (text: string) => {
      const quantity = parseQuantity(text);
      if (quantity === undefined) throw new EvaluationError(`quantities must match the regular expression: ${text}`);
      return quantity;
    })
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => a.nanos > b.nanos)
    .registerFunction('Quantity.isLessThan(Quantity): bool', (a: Quantity, b: Quantity) => a.nanos < b.nanos)
    .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) =>
      a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n,
    )
    .registerFunction('Quantity.add(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos))
    .registerFunction('Quantity.sub(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos))
    .registerFunction('Quantity.isInteger(): bool', (quantity: Quantity) => quantity.isInteger)
    .registerFunction('Quantity.asInteger(): int', (quantity: Quantity) => quantity.units)
    .registerFunction('Quantity.asApproximateFloat(): double', (quantity: Quantity) => quantity.approximate);
}

/** Order of two values of the same comparable type; values of different types have none. */
function isLess(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  if (isNumber(a) && isNumber(b)) return a < b;
  return a instanceof Date && b instanceof Date && a < b;
}

function add(a: unknown, b: unknown): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a + b;
  return isNumber(a) && isNumber(b) ? Number(a) + Number(b) : b;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
