/** Gives an argument the type its parameter has. */
import type { NumberNode, Operand } from '../parse/nodes.ts';
import { nodeText } from '../parse/nodes.ts';
import { COMPLEX128, type GoType, isInt, isUint, REFLECTED } from '../types/type.ts';
import {
  boolValue,
  elemOf,
  floatValue,
  intValue,
  isAssignable,
  stringValue,
  Value,
  zeroValue,
} from '../types/value.ts';
import type { State } from './state.ts';

const NILABLE: ReadonlySet<string> = new Set(['func', 'interface', 'map', 'pointer', 'slice']);
const canBeNil = (type: GoType): boolean => type === REFLECTED || NILABLE.has(type.kind);

/** The nil of a type; a parameter that looks at values itself gets no value at all. */
const nilOf = (type: GoType): Value | undefined => (type === REFLECTED ? undefined : zeroValue(type));

const typeName = (type: GoType): Value => stringValue(type.name);

/** `value` as a `type`, or Go's error. */
export function validateType(state: State, value: Value | undefined, type: GoType): Value | undefined {
  if (value === undefined) {
    if (canBeNil(type)) return nilOf(type);
    return state.fail('invalid value; expected %s', typeName(type));
  }
  if (type === REFLECTED || isAssignable(value.type, type)) return value;
  if (value.type.kind === 'interface') {
    const dynamic = elemOf(value);
    if (dynamic !== undefined && isAssignable(dynamic.type, type)) return dynamic;
    if (dynamic !== undefined) return mismatch(state, dynamic, type);
  }
  return mismatch(state, value, type);
}

function mismatch(state: State, value: Value, type: GoType): Value {
  if (value.type.kind === 'pointer' && isAssignable(value.type.elem!, type)) {
    return elemOf(value) ?? state.fail('dereference of nil pointer of type %s', typeName(type));
  }
  return state.fail('wrong type for value; expected %s; got %s', typeName(type), typeName(value.type));
}

export function nilArg(state: State, type: GoType): Value | undefined {
  return canBeNil(type) ? nilOf(type) : state.fail('cannot assign nil to %s', typeName(type));
}

/** The value of a number literal where no type is asked for: int, float64 or complex128. */
function idealConstant(state: State, node: NumberNode): Value {
  state.node = node;
  if (node.complex !== undefined) return new Value(COMPLEX128, node.complex);
  const isHexInt = /^0[xX].*$/.test(node.text) && node.text.length > 2 && !/[pP]/.test(node.text);
  if (node.float !== undefined && !isHexInt && !node.text.startsWith("'") && /[.eEpP]/.test(node.text)) {
    return floatValue(node.float);
  }
  if (node.int !== undefined) return intValue(node.int);
  return state.fail('%s overflows int', stringValue(node.text));
}

/** A literal as a parameter of `type`. */
export function constantArg(state: State, node: Operand, type: GoType): Value {
  const found = (wanted: string): never => state.fail(`expected ${wanted}; found %s`, stringValue(nodeText(node)));
  const { kind } = type;
  if (type === REFLECTED || kind === 'interface') return anyConstant(state, node);
  if (isInt(kind))
    return node.kind === 'number' && node.int !== undefined ? new Value(type, node.int) : found('integer');
  if (isUint(kind))
    return node.kind === 'number' && node.uint !== undefined ? new Value(type, node.uint) : found('unsigned integer');
  switch (kind) {
    case 'bool':
      return node.kind === 'bool' ? new Value(type, node.value) : found('bool');
    case 'string':
      return node.kind === 'string' ? new Value(type, node.text) : found('string');
    case 'float64':
      return node.kind === 'number' && node.float !== undefined ? new Value(type, node.float) : found('float');
    case 'complex128':
      return node.kind === 'number' && node.complex !== undefined ? new Value(type, node.complex) : found('complex');
    default:
      return state.fail("can't handle %s for arg of type %s", stringValue(nodeText(node)), typeName(type));
  }
}

/** A literal by itself. */
export function anyConstant(state: State, node: Operand): Value {
  if (node.kind === 'bool') return boolValue(node.value);
  if (node.kind === 'string') return stringValue(node.text);
  if (node.kind === 'number') return idealConstant(state, node);
  return state.fail("can't evaluate command %q", stringValue(nodeText(node)));
}
