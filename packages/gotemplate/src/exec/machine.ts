/** Executes statements with a stack of its own, so that templates may call each other 100,000 deep as in Go. */
import { sprint } from '../fmt/sprintf.ts';
import { isStackOverflow, LimitReached } from '../limits.ts';
import {
  type ActionNode,
  type BranchNode,
  type ListNode,
  nodeText,
  type Statement,
  type TemplateNode,
} from '../parse/nodes.ts';
import { run } from '../trampoline.ts';
import type { Bytes } from '../text/bytes.ts';
import { intValue, stringValue, type Value, indirect, indirectInterface, isTrue } from '../types/value.ts';
import { evalPipeline } from './eval.ts';
import { printable } from './printable.ts';
import { type Iteration, iterate } from './range.ts';
import { type Execution, State } from './state.ts';

type Dot = Value | undefined;

/** A list being walked; `mark`: variables to forget at its end. */
interface ListFrame {
  readonly kind: 'list';
  readonly list: ListNode;
  readonly dot: Dot;
  readonly mark: number | undefined;
  next: number;
}

interface RangeFrame {
  readonly kind: 'range';
  readonly node: BranchNode;
  readonly iterations: Iterator<Iteration>;
  /** Variables before the range, and within it before each iteration. */
  readonly outerMark: number;
  readonly mark: number;
}

/** A template that was called; `caller` goes on afterwards. */
interface CallFrame {
  readonly kind: 'call';
  readonly caller: State;
}

type Frame = ListFrame | RangeFrame | CallFrame;

export class Machine {
  readonly #execution: Execution;
  readonly #out: Bytes[] = [];
  readonly #stack: Frame[] = [];
  #state: State;
  #depth = 0;

  constructor(execution: Execution, name: Bytes, root: ListNode | undefined, data: Dot) {
    this.#execution = execution;
    this.#state = new State(execution, name, data, undefined);
    if (root === undefined) this.#state.fail('%q is an incomplete or empty template', stringValue(name));
    else this.#enter(root, data, undefined);
  }

  /** Runs to the end and gives the output. */
  run(): Bytes {
    try {
      for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) this.#step(frame);
    } catch (error) {
      if (error instanceof LimitReached) throw this.#state.limitError(error.message);
      if (isStackOverflow(error)) throw this.#state.limitError('values too deep for the stack');
      throw error;
    }
    return this.#out.join('');
  }

  #enter(list: ListNode, dot: Dot, mark: number | undefined): void {
    this.#stack.push({ kind: 'list', list, dot, mark, next: 0 });
  }

  #step(frame: Frame): void {
    switch (frame.kind) {
      case 'list': {
        const node = frame.list.nodes[frame.next++];
        if (node !== undefined) return this.#statement(node, frame.dot);
        this.#stack.pop();
        if (frame.mark !== undefined) this.#state.pop(frame.mark);
        return;
      }
      case 'range': {
        this.#state.pop(frame.mark);
        const next = frame.iterations.next();
        if (!next.done) return this.#iteration(frame, next.value);
        this.#stack.pop();
        return this.#state.pop(frame.outerMark);
      }
      case 'call':
        this.#stack.pop();
        this.#state = frame.caller;
        this.#depth--;
    }
  }

  #write(text: Bytes): void {
    this.#execution.budget.output(text.length);
    this.#out.push(text);
  }

  #evaluate(dot: Dot, pipe: ActionNode['pipe']): Dot {
    return run(evalPipeline(this.#state, dot, pipe));
  }

  #statement(node: Statement, dot: Dot): void {
    this.#execution.budget.spend(1);
    this.#state.node = node;
    switch (node.kind) {
      case 'text':
        return this.#write(node.text);
      case 'action':
        return this.#action(node, dot);
      case 'if':
      case 'with':
        return this.#branch(node, dot);
      case 'range':
        return this.#range(node, dot);
      case 'template':
        return this.#template(node, dot);
      case 'break':
      case 'continue':
        return this.#jump(node.kind);
    }
  }

  #action(node: ActionNode, dot: Dot): void {
    const value = this.#evaluate(dot, node.pipe);
    if (node.pipe.decl.length > 0) return;
    this.#state.node = node;
    const shown = printable(value);
    if (shown === undefined) {
      return this.#state.fail("can't print %s of type %s", stringValue(nodeText(node)), stringValue(value!.type.name));
    }
    const text = sprint(this.#execution.budget, [shown.value]);
    this.#write(this.#execution.printed?.(text) ?? text);
  }

  #branch(node: BranchNode, dot: Dot): void {
    const mark = this.#state.mark();
    const value = this.#evaluate(dot, node.pipe);
    if (isTrue(indirectInterface(value))) return this.#enter(node.list, node.kind === 'with' ? value : dot, mark);
    if (node.elseList !== undefined) return this.#enter(node.elseList, dot, mark);
    this.#state.pop(mark);
  }

  #range(node: BranchNode, dot: Dot): void {
    const outerMark = this.#state.mark();
    const [value] = indirect(this.#evaluate(dot, node.pipe));
    const mark = this.#state.mark();
    const iterations = iterate(this.#state, value, node.pipe.decl.length);
    const first = iterations.next();
    if (first.done) {
      if (node.elseList !== undefined) return this.#enter(node.elseList, dot, outerMark);
      return this.#state.pop(outerMark);
    }
    const frame: RangeFrame = { kind: 'range', node, iterations, outerMark, mark };
    this.#stack.push(frame);
    this.#iteration(frame, first.value);
  }

  #iteration(frame: RangeFrame, [index, elem]: Iteration): void {
    this.#execution.budget.spend(1);
    const { decl, isAssign } = frame.node.pipe;
    if (decl.length > 0) {
      if (!isAssign) this.#state.assignTop(1, elem);
      else this.#state.assign(decl[0]!.ident[0]!, decl.length > 1 ? index : elem);
    }
    if (decl.length > 1) {
      if (isAssign) this.#state.assign(decl[1]!.ident[0]!, elem);
      else this.#state.assignTop(2, index);
    }
    this.#enter(frame.node.list, elem, undefined);
  }

  #template(node: TemplateNode, dot: Dot): void {
    const definition = this.#execution.lookup(node.name);
    if (definition === undefined) return this.#state.fail('template %q not defined', stringValue(node.name));
    const max = this.#execution.budget.limits.templateDepth;
    if (this.#depth === max) this.#state.fail('exceeded maximum template depth (%v)', intValue(max));
    const data = node.pipe === undefined ? undefined : this.#evaluate(dot, node.pipe);
    this.#stack.push({ kind: 'call', caller: this.#state });
    this.#state = new State(this.#execution, definition.name, data, this.#state.node);
    this.#depth++;
    this.#enter(definition.root, data, undefined);
  }

  /** Leaves everything up to the innermost range; `break` leaves that too. */
  #jump(kind: 'break' | 'continue'): void {
    for (let frame = this.#stack.at(-1)!; frame.kind !== 'range'; frame = this.#stack.at(-1)!) this.#stack.pop();
    if (kind === 'continue') return;
    const range = this.#stack.pop() as RangeFrame;
    this.#state.pop(range.outerMark);
  }
}
