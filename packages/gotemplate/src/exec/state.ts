/** The state of one executing template: variables, and the node an error would be about. */
import { ExecError, LimitError, type Place } from '../errors.ts';
import { formatText, type Args } from '../fmt/sprintf.ts';
import type { Budget } from '../limits.ts';
import { type Node, nodeText, type Source } from '../parse/nodes.ts';
import { type Bytes, decode } from '../text/bytes.ts';
import { quote } from '../text/quote.ts';
import { type Signature } from '../types/type.ts';
import { stringValue, type Value } from '../types/value.ts';
import type { Definition, MissingKey } from './definition.ts';

/** What all templates of one execution share. */
export interface Execution {
  readonly budget: Budget;
  readonly missingKey: MissingKey;
  readonly functions: ReadonlyMap<Bytes, Signature>;
  readonly lookup: (name: Bytes) => Definition | undefined;
  /** What is written in place of the text of an action. */
  readonly printed?: ((text: Bytes) => Bytes) | undefined;
}

interface Variable {
  readonly name: Bytes;
  value: Value | undefined;
}

const SCANNED_PER_STEP = 32;

export class State {
  readonly execution: Execution;
  readonly name: Bytes;
  readonly #variables: Variable[];
  node: Node | undefined;

  constructor(execution: Execution, name: Bytes, dot: Value | undefined, node: Node | undefined) {
    this.execution = execution;
    this.name = name;
    this.#variables = [{ name: '$', value: dot }];
    this.node = node;
  }

  push(name: Bytes, value: Value | undefined): void {
    this.#variables.push({ name, value });
  }

  mark(): number {
    return this.#variables.length;
  }

  /** Forgets the variables pushed since `mark`. */
  pop(mark: number): void {
    this.#variables.length = mark;
  }

  #find(name: Bytes): Variable {
    const found = this.#variables.findLast(variable => variable.name === name);
    if (this.#variables.length > SCANNED_PER_STEP)
      this.execution.budget.spend(this.#variables.length / SCANNED_PER_STEP);
    return found ?? this.fail('undefined variable: %s', stringValue(name));
  }

  value(name: Bytes): Value | undefined {
    return this.#find(name).value;
  }

  assign(name: Bytes, value: Value | undefined): void {
    this.#find(name).value = value;
  }

  /** Sets the `n`th variable from the top, 1 = the last one declared. */
  assignTop(n: number, value: Value | undefined): void {
    this.#variables.at(-n)!.value = value;
  }

  /** Stops with Go's message; `format` is one of Go's. */
  fail(format: string, ...args: Args): never {
    throw this.error(format, args);
  }

  error(format: string, args: Args): ExecError {
    const name = this.name.replaceAll('%', '%%');
    if (this.node === undefined) return new ExecError(decode(formatText(`template: ${name}: ${format}`, args)));
    const { source, pos } = this.node;
    const { line, column } = position(source, pos);
    const context = nodeText(this.node).replaceAll('%', '%%');
    const prefix = `template: ${source.name}:${line}:${column}: executing ${quote(name)} at <${context}>: `;
    return new ExecError(decode(formatText(prefix + format, args)), this.#place());
  }

  /** The error for a limit that was reached here. */
  limitError(what: string): LimitError {
    const place = this.#place();
    const at = place ? `${place.template}:${place.line}:${place.column}` : decode(this.name);
    return new LimitError(`template: ${at}: ${what}`, place);
  }

  #place(): Place | undefined {
    if (this.node === undefined) return undefined;
    const { source, pos } = this.node;
    return { template: decode(source.name), ...position(source, pos) };
  }
}

/** Line from 1 and column in bytes; on the first line columns count from 0, as Go prints them. */
export function position(source: Source, pos: number): { line: number; column: number } {
  const before = source.text.slice(0, pos);
  return { line: before.split('\n').length, column: pos - before.lastIndexOf('\n') - 1 };
}
