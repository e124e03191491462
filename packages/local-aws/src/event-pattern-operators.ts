/** The comparison operators of event patterns: what one alternative of a field says about one value of the event. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { EventPatternError } from './event-pattern-error.ts';

/** Decides about one leaf value: string, number, boolean or null. */
export type ValueTest = (value: unknown) => boolean;

/** The range in which EventBridge compares numbers. */
const MAX_NUMBER = 5e9;

/** A literal or an object with one operator. Throws an `EventPatternError` naming `path`. */
export function compileOperator(alternative: unknown, path: string): ValueTest {
  if (alternative === null || ['string', 'number', 'boolean'].includes(typeof alternative)) {
    return value => value === alternative;
  }
  const [name, operand] = operatorOf(alternative, path);
  switch (name) {
    case 'prefix':
    case 'suffix':
      return affix(name, operand, path);
    case 'equals-ignore-case':
      return equalsIgnoringCase(operand, path);
    case 'wildcard':
      return wildcard(operand, path);
    case 'numeric':
      return numeric(operand, path);
    case 'cidr':
      return cidr(operand, path);
    case 'anything-but':
      return anythingBut(operand, path);
    default:
      throw new EventPatternError(path, `has the unknown operator ${name}`);
  }
}

function operatorOf(alternative: unknown, path: string): [string, unknown] {
  const [first, ...others] = typeof alternative === 'object' && alternative !== null ? Object.entries(alternative) : [];
  if (first === undefined || others.length > 0 || Array.isArray(alternative)) {
    throw new EventPatternError(path, 'must be a string, number, boolean, null or an object with exactly one operator');
  }
  return first;
}

function textOf(operand: unknown, path: string): string {
  if (typeof operand !== 'string') throw new EventPatternError(path, 'must compare with a string');
  return operand;
}

const onText =
  (test: (text: string) => boolean): ValueTest =>
  value =>
    typeof value === 'string' && test(value);

function affix(side: 'prefix' | 'suffix', operand: unknown, path: string): ValueTest {
  const has = (text: string, part: string) => (side === 'prefix' ? text.startsWith(part) : text.endsWith(part));
  if (typeof operand !== 'object' || operand === null) {
    const part = textOf(operand, path);
    return onText(text => has(text, part));
  }
  const [name, inner] = operatorOf(operand, path);
  if (name !== 'equals-ignore-case') throw new EventPatternError(path, `${side} must not contain ${name}`);
  const part = textOf(inner, path).toLowerCase();
  return onText(text => has(text.toLowerCase(), part));
}

function equalsIgnoringCase(operand: unknown, path: string): ValueTest {
  const wanted = textOf(operand, path).toLowerCase();
  return onText(text => text.toLowerCase() === wanted);
}

/** `*` is any run of characters; `\*` and `\\` are the characters themselves. */
function wildcard(operand: unknown, path: string): ValueTest {
  const parts = [''];
  for (const [token] of textOf(operand, path).matchAll(/\\.?|\*+|[^\\*]+/gsu)) {
    if (token.startsWith('**')) throw new EventPatternError(path, 'wildcard must not have ** in it');
    if (token.startsWith('\\') && token !== '\\*' && token !== '\\\\') {
      throw new EventPatternError(path, 'wildcard must escape only * and \\');
    }
    if (token === '*') parts.push('');
    else parts.push((parts.pop() ?? '') + (token.startsWith('\\') ? token.slice(1) : token));
  }
  return onText(text => hasPartsInOrder(text, parts));
}

/** Whether `text` is `parts` in this order with anything between them: the first at its start, the last at its end. */
function hasPartsInOrder(text: string, parts: readonly string[]): boolean {
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const part of others) {
    const found = text.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}

const COMPARISONS: Record<string, (value: number, bound: number) => boolean> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** One comparison, or a lower and an upper bound in this order. */
function numeric(operand: unknown, path: string): ValueTest {
  const parts: unknown[] = Array.isArray(operand) ? operand : [];
  if (parts.length !== 2 && parts.length !== 4) {
    throw new EventPatternError(path, 'numeric must list one comparison, or a lower and an upper bound');
  }
  const comparisons = [parts.slice(0, 2), parts.slice(2)]
    .filter(pair => pair.length > 0)
    .map(pair => comparison(pair, path));
  const [lower, upper] = comparisons;
  if (
    upper !== undefined &&
    !(lower?.sign.startsWith('>') && upper.sign.startsWith('<') && lower.bound < upper.bound)
  ) {
    throw new EventPatternError(path, 'numeric must have a lower bound that is below its upper bound');
  }
  return value => typeof value === 'number' && comparisons.every(({ holds, bound }) => holds(value, bound));
}

function comparison([sign, bound]: unknown[], path: string) {
  const holds = typeof sign === 'string' ? COMPARISONS[sign] : undefined;
  if (typeof sign !== 'string' || holds === undefined) {
    throw new EventPatternError(path, 'numeric must compare with =, <, <=, > or >=');
  }
  if (typeof bound !== 'number' || Math.abs(bound) > MAX_NUMBER) {
    throw new EventPatternError(path, `numeric must compare with a number between -${MAX_NUMBER} and ${MAX_NUMBER}`);
  }
  return { sign, bound, holds };
}

function cidr(operand: unknown, path: string): ValueTest {
  const [network, length, ...rest] = textOf(operand, path).split('/');
  const family =
    network !== undefined && isIPv4(network) ? 'ipv4' : network !== undefined && isIPv6(network) ? 'ipv6' : undefined;
  const bits = length !== undefined && /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (network === undefined || family === undefined || rest.length > 0 || !(bits <= (family === 'ipv4' ? 32 : 128))) {
    throw new EventPatternError(path, 'cidr must be an IPv4 or IPv6 block such as 10.0.0.0/24');
  }
  const block = new BlockList();
  block.addSubnet(network, bits, family);
  // An IPv4 address that is written as an IPv6 one would match an IPv4 block otherwise.
  return onText(text => (family === 'ipv4' ? isIPv4(text) : isIPv6(text)) && block.check(text, family));
}

/** True for every existing value that none of the listed ones equals, or that the inner operator does not match for any of its operands. */
function anythingBut(operand: unknown, path: string): ValueTest {
  if (typeof operand === 'object' && operand !== null && !Array.isArray(operand)) {
    const [name, inner] = operatorOf(operand, path);
    if (!['prefix', 'suffix', 'equals-ignore-case', 'wildcard'].includes(name)) {
      throw new EventPatternError(path, `anything-but must not contain ${name}`);
    }
    const excluded = listOf(inner, path).map(entry => compileOperator({ [name]: entry }, path));
    return value => !excluded.some(test => test(value));
  }
  const excluded = listOf(operand, path);
  const [type, ...otherTypes] = new Set(excluded.map(entry => typeof entry));
  if (otherTypes.length > 0 || (type !== 'string' && type !== 'number')) {
    throw new EventPatternError(path, 'anything-but must list strings only or numbers only');
  }
  return value => !excluded.includes(value);
}

function listOf(operand: unknown, path: string): unknown[] {
  const list: unknown[] = Array.isArray(operand) ? operand : [operand];
  if (list.length === 0) throw new EventPatternError(path, 'anything-but must not be empty');
  return list;
}
