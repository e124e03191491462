/** Templates: parse once, execute many times. */
import { ExecError, ParseError } from './errors.ts';
import { BUILTIN_NAMES, builtins } from './builtins/registry.ts';
import type { Definition, MissingKey } from './exec/definition.ts';
import { Machine } from './exec/machine.ts';
import { Budget, DEFAULT_LIMITS, type Limits } from './limits.ts';
import { isEmptyTree, type ListNode } from './parse/nodes.ts';
import { parseTrees } from './parse/parser.ts';
import { type Bytes, decode, encode, toOctets } from './text/bytes.ts';
import { quote } from './text/quote.ts';
import { isDigit, isLetter } from './text/unicode.ts';
import { signatureOf, toGo } from './types/convert.ts';
import type { Signature } from './types/type.ts';

export interface TemplateOptions {
  /** Further templates by name, parsed first, in the order of their names. */
  readonly templates?: Readonly<Record<string, string>>;
  readonly missingkey?: MissingKey;
  /** Instead of `{{` and `}}`. */
  readonly delims?: { readonly left: string; readonly right: string };
  /** Functions beside the built-in ones, or instead of them; arguments and result are plain JavaScript values. */
  readonly functions?: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  readonly limits?: Partial<Limits>;
}

export interface ExecuteOptions {
  /** What is written in place of the text that an action prints; the template's own text stays. */
  readonly printed?: (text: string) => string;
}

/** A template and those it can call. */
export class Template {
  readonly name: string;
  readonly #definitions: ReadonlyMap<Bytes, Definition>;
  readonly #main: Definition;
  readonly #functions: ReadonlyMap<Bytes, Signature>;
  readonly #missingKey: MissingKey;
  readonly #limits: Limits;

  /** Use `parse`. */
  constructor(name: string, text: string, options: TemplateOptions) {
    this.name = name;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#missingKey = options.missingkey ?? 'default';
    this.#functions = ownFunctions(options.functions ?? {});
    const definitions = new Map<Bytes, Definition>();
    const parseInto = (own: string, source: string): ListNode =>
      this.#parse(definitions, encode(own), encode(source), options);
    const others = Object.entries(options.templates ?? {}).map(([other, source]) => [encode(other), source] as const);
    for (const [other, source] of others.toSorted(([a], [b]) => (a < b ? -1 : 1))) parseInto(decode(other), source);
    this.#main = { name: encode(name), root: parseInto(name, text) };
    this.#definitions = definitions;
  }

  /** Parses one text; its trees replace those of the same name unless they are empty. Gives the tree of `name`. */
  #parse(definitions: Map<Bytes, Definition>, name: Bytes, text: Bytes, options: TemplateOptions): ListNode {
    if (text.length > this.#limits.templateBytes) {
      throw new ParseError(`template: ${decode(name)}: longer than ${this.#limits.templateBytes} bytes`);
    }
    const delims = { left: encode(options.delims?.left || '{{'), right: encode(options.delims?.right || '}}') };
    const trees = parseTrees(name, text, delims, new Set([...BUILTIN_NAMES, ...this.#functions.keys()]));
    for (const [tree, root] of trees) {
      if (!definitions.has(tree) || !isEmptyTree(root)) definitions.set(tree, { name: tree, root });
    }
    return trees.get(name)!;
  }

  /** Names of all templates that can be executed, in order. */
  get templates(): readonly string[] {
    return [...this.#definitions.keys()].toSorted().map(decode);
  }

  /**
   * The text that the template makes of `data` (see `toGo`). A byte that is not UTF-8 becomes U+FFFD; `executeBytes`
   * keeps it.
   * @throws {ExecError} with Go's message; {LimitError} when a limit is reached; {DataError} when data is no data.
   */
  execute(data?: unknown, options: ExecuteOptions = {}): string {
    return decode(this.#execute(this.#main, data, options));
  }

  /** Like `execute`; the exact bytes. */
  executeBytes(data?: unknown): Uint8Array {
    return toOctets(this.#execute(this.#main, data));
  }

  /** Executes the template `name` of this set. */
  executeTemplate(name: string, data?: unknown): string {
    const definition = this.#definitions.get(encode(name));
    if (definition !== undefined) return decode(this.#execute(definition, data));
    const [wanted, own] = [name, this.name].map(each => decode(quote(encode(each))));
    throw new ExecError(`template: no template ${wanted} associated with template ${own}`);
  }

  /** The trees, for analysis. */
  get trees(): { readonly main: Definition; readonly lookup: (name: Bytes) => Definition | undefined } {
    return { main: this.#main, lookup: name => this.#definitions.get(name) };
  }

  #execute(definition: Definition, data: unknown, { printed }: ExecuteOptions = {}): Bytes {
    const value = toGo(data, undefined, this.#limits.dataDepth);
    const budget = new Budget(this.#limits);
    const functions = new Map([...builtins(budget), ...this.#functions]);
    const lookup = (name: Bytes): Definition | undefined => this.#definitions.get(name);
    const shown = printed && ((text: Bytes): Bytes => encode(printed(decode(text))));
    const execution = { budget, missingKey: this.#missingKey, functions, lookup, printed: shown };
    return new Machine(execution, definition.name, definition.root, value).run();
  }
}

function ownFunctions(functions: NonNullable<TemplateOptions['functions']>): Map<Bytes, Signature> {
  return new Map(
    Object.entries(functions).map(([name, fn]) => {
      if (!isName(name)) throw new TypeError(`function name ${JSON.stringify(name)} is not a valid identifier`);
      return [encode(name), signatureOf(fn)];
    }),
  );
}

function isName(name: string): boolean {
  const runes = Array.from(name, c => c.codePointAt(0) ?? 0);
  const isWord = (rune: number, i: number): boolean => rune === 0x5f || isLetter(rune) || (i > 0 && isDigit(rune));
  return runes.length > 0 && runes.every(isWord);
}

/**
 * Parses a template named `name`, the name its errors show.
 * @throws {ParseError} with Go's message.
 */
export function parse(name: string, text: string, options: TemplateOptions = {}): Template {
  return new Template(name, text, options);
}
