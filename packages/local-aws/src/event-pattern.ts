/**
 * EventBridge's event pattern language, all of it: a pattern mirrors the event; arrays are alternatives, sibling fields must all hold, a field
 * that the pattern does not name does not matter. Where the event has an array, one element must satisfy all that the pattern says below it.
 * Source of the rules: EventBridge user guide, "Event patterns" and "Comparison operators".
 *
 * One difference remains: EventBridge compares numbers as they are spelt (300 is not 300.0), which is lost once JSON is parsed; here equal
 * numbers are equal.
 */
import { compileOperator, type ValueTest } from './event-pattern-operators.ts';
import { isObject } from './json-object.ts';
import { EventPatternError } from './event-pattern-error.ts';

/** Decides about one event. */
export type EventMatcher = (event: unknown) => boolean;

/** Tests what stands at one place of the event; undefined: nothing does. */
type PlaceTest = (value: unknown) => boolean;

/** Alternatives of all `$or` multiplied; EventBridge refuses more. */
const MAX_COMBINATIONS = 1000;

/** Words that make an object an operator, so that `$or` over them is a field of that name. */
const OPERATOR_WORDS = new Set([
  'exactly',
  'prefix',
  'suffix',
  'equals-ignore-case',
  'anything-but',
  'numeric',
  'exists',
  'wildcard',
  'cidr',
]);

/** Throws an `EventPatternError` that names the place for a pattern that EventBridge would refuse. */
export function compileEventPattern(pattern: unknown): EventMatcher {
  if (!isObject(pattern)) throw new EventPatternError('', 'must be an object');
  const combinations = countCombinations(pattern);
  if (combinations > MAX_COMBINATIONS) {
    throw new EventPatternError(
      '',
      `must not have more than ${MAX_COMBINATIONS} combinations of $or, has ${combinations}`,
    );
  }
  return compileObject(pattern, '');
}

function compileObject(pattern: Record<string, unknown>, path: string): PlaceTest {
  const fields = Object.entries(pattern);
  if (fields.length === 0) throw new EventPatternError(path, 'must not be empty');
  const tests = fields.map(([name, value]) => compileField(name, value, path));
  const holds: PlaceTest = value => tests.every(test => test(value));
  return value => elementsOf(value).some(holds);
}

/** A test of the object that has the field, so that `$or` sees the same element as its siblings. */
function compileField(name: string, pattern: unknown, parent: string): PlaceTest {
  const path = parent === '' ? name : `${parent}.${name}`;
  if (name === '$or' && isRelation(pattern)) {
    const alternatives = pattern.map((alternative, index) => compileObject(alternative, `${path}[${index}]`));
    return value => alternatives.some(alternative => alternative(value));
  }
  const test = compilePlace(pattern, path);
  return value => test(isObject(value) ? ownField(value, name) : undefined);
}

function compilePlace(pattern: unknown, path: string): PlaceTest {
  if (isObject(pattern)) return compileObject(pattern, path);
  if (!Array.isArray(pattern)) throw new EventPatternError(path, 'must be an object or an array');
  if (pattern.length === 0) throw new EventPatternError(path, 'must not be an empty array');
  const alternatives = pattern.map((alternative, index) => compileAlternative(alternative, `${path}[${index}]`));
  return value => {
    const leaves = elementsOf(value).filter(isLeaf);
    return alternatives.some(alternative => alternative(leaves));
  };
}

/** `exists` asks about the place, everything else about one of its values. */
function compileAlternative(alternative: unknown, path: string): (leaves: readonly unknown[]) => boolean {
  if (isObject(alternative) && 'exists' in alternative && Object.keys(alternative).length === 1) {
    const { exists } = alternative;
    if (typeof exists !== 'boolean') throw new EventPatternError(path, 'exists must be true or false');
    return leaves => leaves.length > 0 === exists;
  }
  const test: ValueTest = compileOperator(alternative, path);
  return leaves => leaves.some(test);
}

/** `$or` relates when it lists at least two objects, none of which uses an operator word as a field. */
function isRelation(pattern: unknown): pattern is Record<string, unknown>[] {
  return (
    Array.isArray(pattern) &&
    pattern.length >= 2 &&
    pattern.every(entry => isObject(entry) && !Object.keys(entry).some(key => OPERATOR_WORDS.has(key)))
  );
}

function countCombinations(pattern: unknown): number {
  if (!isObject(pattern)) return 1;
  return Object.entries(pattern)
    .map(([name, value]) =>
      name === '$or' && isRelation(value)
        ? value.reduce((sum, alternative) => sum + countCombinations(alternative), 0)
        : countCombinations(value),
    )
    .reduce((product, count) => product * count, 1);
}

/** An array stands for each of its elements, nested ones too; anything else for itself. An empty array is as good as nothing. */
function elementsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  const elements = value.flat(Infinity);
  return elements.length === 0 ? [undefined] : elements;
}

function isLeaf(value: unknown): boolean {
  return value !== undefined && (value === null || typeof value !== 'object');
}

/** Own fields only: an event without a field `constructor` has none. */
function ownField(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
