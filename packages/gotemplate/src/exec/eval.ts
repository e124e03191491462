/** Evaluates pipelines and commands. The order of evaluation and of checks is Go's, since errors name the node at hand. */
import { isStackOverflow, LimitReached } from '../limits.ts';
import type { CommandNode, FieldNode, Operand, PipeNode, VariableNode } from '../parse/nodes.ts';
import { nodeText } from '../parse/nodes.ts';
import { deep, type Step } from '../trampoline.ts';
import type { Bytes } from '../text/bytes.ts';
import { TemplateError } from '../errors.ts';
import type { GoType, Signature } from '../types/type.ts';
import { elemOf, indirectInterface, isTrue, stringValue, type Value } from '../types/value.ts';
import { shortCircuit } from '../builtins/registry.ts';
import { callValue } from '../builtins/call.ts';
import {
  checkArgCount,
  type Final,
  finalText,
  type Given,
  NONE,
  paramType,
  problemOf,
  refuseArgs,
  refuseResults,
} from './args.ts';
import { anyConstant, constantArg, nilArg, validateType } from './convert-arg.ts';
import { findField } from './field.ts';
import type { State } from './state.ts';

/** The value of a pipeline; declares or assigns its variables. */
export function* evalPipeline(state: State, dot: Value | undefined, pipe: PipeNode): Step<Value | undefined> {
  state.node = pipe;
  let value: Value | undefined;
  let final: Final = NONE;
  for (const cmd of pipe.cmds) {
    state.execution.budget.spend(1);
    value = yield* evalCommand(state, dot, cmd, final);
    if (value?.type.kind === 'interface') value = elemOf(value);
    final = value;
  }
  for (const variable of pipe.decl) {
    if (pipe.isAssign) state.assign(variable.ident[0]!, value);
    else state.push(variable.ident[0]!, value);
  }
  return value;
}

function* evalCommand(state: State, dot: Value | undefined, cmd: CommandNode, final: Final): Step<Value | undefined> {
  const first = cmd.args[0]!;
  switch (first.kind) {
    case 'field':
    case 'chain':
    case 'variable':
      return yield* evalChain(state, dot, first, { args: cmd.args, final });
    case 'identifier':
      state.node = first;
      return yield* evalFunction(state, dot, { name: first.name, node: cmd, args: cmd.args, final });
    case 'pipe':
      refuseArgs(state, cmd.args, final);
      return yield* deep(evalPipeline(state, dot, first));
    default:
  }
  state.node = first;
  refuseArgs(state, cmd.args, final);
  if (first.kind === 'dot') return dot;
  if (first.kind === 'nil') return state.fail('nil is not a command');
  return anyConstant(state, first);
}

type Chain = Extract<Operand, { kind: 'field' | 'chain' | 'variable' }>;

/** `.a.b`, `$x.a.b` or `(pipeline).a.b`; `args` belong to the last name, the first of them is the chain itself. */
function* evalChain(state: State, dot: Value | undefined, node: Chain, given: Given): Step<Value | undefined> {
  state.node = node;
  let receiver = dot;
  let names = node.kind === 'chain' ? node.fields : node.ident;
  if (node.kind === 'variable') {
    receiver = state.value(names[0]!);
    names = names.slice(1);
    if (names.length === 0) {
      refuseVariableArgs(state, node, given);
      return receiver;
    }
  } else if (node.kind === 'chain') {
    if (node.node.kind === 'nil') state.fail('indirection through explicit nil in %s', stringValue(nodeText(node)));
    receiver = yield* evalOperand(state, dot, node.node);
  }
  for (const name of names.slice(0, -1)) {
    receiver = yield* evalField(state, dot, receiver, { name, node, args: [], final: NONE });
  }
  return yield* evalField(state, dot, receiver, { name: names.at(-1)!, node, ...given });
}

/** A name that is called, with what it is given. The first of `args` is the name itself. */
interface Call extends Given {
  readonly name: Bytes;
  readonly node: CommandNode | Operand;
}

function refuseVariableArgs(state: State, node: VariableNode, { args, final }: Given): void {
  if (args.length > 0 || final !== NONE) refuseArgs(state, args.length > 0 ? args : [node], final);
}

function* evalField(
  state: State,
  dot: Value | undefined,
  receiver: Value | undefined,
  call: Call,
): Step<Value | undefined> {
  const found = findField(state, receiver, call.name, call.args.length > 1 || call.final !== NONE);
  if ('value' in found) return found.value;
  return yield* evalCall(state, dot, found.method, call);
}

function* evalFunction(state: State, dot: Value | undefined, call: Call): Step<Value | undefined> {
  const signature = state.execution.functions.get(call.name);
  if (signature === undefined) return state.fail('%q is not a defined function', stringValue(call.name));
  if (signature.call === shortCircuit) return yield* evalAndOr(state, dot, signature, call);
  return yield* evalCall(state, dot, signature, call);
}

/** `and` and `or` evaluate no more arguments than they need. */
function* evalAndOr(
  state: State,
  dot: Value | undefined,
  signature: Signature,
  { name, args: allArgs, final }: Call,
): Step<Value | undefined> {
  const args = allArgs.slice(1);
  checkArgCount(state, signature, name, { args, final });
  let value: Value | undefined;
  for (const arg of args) {
    value = yield* evalArg(state, dot, signature.params[0]!, arg);
    if (isTrue(indirectInterface(value)) === (name === 'or')) return value;
  }
  return final === NONE ? value : final;
}

function* evalCall(
  state: State,
  dot: Value | undefined,
  signature: Signature,
  { name, node, args: allArgs, final }: Call,
): Step<Value | undefined> {
  const args = allArgs.slice(1);
  checkArgCount(state, signature, name, { args, final });
  if (signature.also !== undefined) refuseResults(state, name, signature.also);
  const values: (Value | undefined)[] = [];
  for (const arg of args) values.push(yield* evalArg(state, dot, paramType(signature, values.length), arg));
  if (final !== NONE) values.push(validateType(state, final, paramType(signature, values.length)));
  const isCall = signature.call === callValue;
  const callee = isCall ? stringValue(args[0] ? nodeText(args[0]) : finalText(final)) : undefined;
  try {
    state.execution.budget.spend(1);
    return signature.call(isCall ? [callee, ...values] : values);
  } catch (error) {
    if (error instanceof LimitReached || error instanceof TemplateError || isStackOverflow(error)) throw error;
    state.node = node;
    return state.fail('error calling %s: %v', stringValue(name), stringValue(problemOf(error)));
  }
}

/** An argument as a `type`. */
function* evalArg(state: State, dot: Value | undefined, type: GoType, node: Operand): Step<Value | undefined> {
  state.node = node;
  switch (node.kind) {
    case 'nil':
      return nilArg(state, type);
    case 'bool':
    case 'number':
    case 'string':
      return constantArg(state, node, type);
    default:
      return validateType(state, yield* evalOperand(state, dot, node), type);
  }
}

/** An operand that is not a literal, or one as it is. */
function* evalOperand(state: State, dot: Value | undefined, node: Operand): Step<Value | undefined> {
  state.node = node;
  switch (node.kind) {
    case 'dot':
      return dot;
    case 'field':
    case 'variable':
    case 'chain':
      return yield* evalChain(state, dot, node, { args: firstOnly(node), final: NONE });
    case 'pipe':
      return yield* deep(evalPipeline(state, dot, node));
    case 'identifier':
      return yield* evalFunction(state, dot, { name: node.name, node, args: [], final: NONE });
    default:
      return anyConstant(state, node);
  }
}

const NO_ARGS: readonly Operand[] = [];
const firstOnly = (node: Chain | FieldNode): readonly Operand[] => (node.kind === 'field' ? [node] : NO_ARGS);
