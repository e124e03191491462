/** Which fields of its data a template refers to, known before it runs. */
import { position } from './exec/state.ts';
import { type ListNode, nodeText, type Node, type Operand, type PipeNode, type Statement } from './parse/nodes.ts';
import { children } from './parse/children.ts';
import type { Definition } from './exec/definition.ts';
import type { Template } from './template.ts';
import { type Bytes, decode } from './text/bytes.ts';
import { deep, run, type Step } from './trampoline.ts';

/** In a path: any element of a list or map. */
export const ELEMENT = '[]';

/** A field path in a template, resolved through `range`, `with`, variables and template calls to the root of the data. */
export interface Reference {
  /** Names from the root; `[]` for an element. */
  readonly path: readonly string[];
  /** As written. */
  readonly text: string;
  /** The text it is in, line from 1, column in bytes, as in errors. */
  readonly template: string;
  readonly line: number;
  readonly column: number;
}

/** A path from the root; undefined = nobody knows before the template runs. */
type Path = readonly Bytes[] | undefined;

interface Variable {
  readonly name: Bytes;
  readonly path: Path;
}

/**
 * The field paths that `template` refers to, those of the templates it calls included. A path through the result of a
 * function (but `index`) or through a variable that is assigned again is not known and not in the list.
 */
export function references(template: Template): readonly Reference[] {
  const analysis = new Analysis(template.trees.lookup);
  run(analysis.template(template.trees.main, []));
  return analysis.found;
}

class Analysis {
  readonly found: Reference[] = [];
  readonly #lookup: (name: Bytes) => Definition | undefined;
  /** Dots that each template was called with, so that recursion ends. */
  readonly #seen = new Map<Bytes, Set<string>>();
  #variables: Variable[] = [];
  #assigned: ReadonlySet<Bytes> = new Set();

  constructor(lookup: (name: Bytes) => Definition | undefined) {
    this.#lookup = lookup;
  }

  *template(definition: Definition, dot: Path): Step<void> {
    const seen = this.#seen.get(definition.name) ?? new Set();
    const call = JSON.stringify(dot ?? null);
    if (seen.has(call) || seen.size >= MAX_CALLS) return;
    this.#seen.set(definition.name, seen.add(call));
    const outer = [this.#variables, this.#assigned] as const;
    this.#variables = [{ name: '$', path: dot }];
    this.#assigned = assignedVariables(definition.root);
    yield* deep(this.#list(definition.root, dot));
    [this.#variables, this.#assigned] = outer;
  }

  *#list(list: ListNode, dot: Path): Step<void> {
    for (const node of list.nodes) yield* this.#statement(node, dot);
  }

  *#statement(node: Statement, dot: Path): Step<void> {
    const mark = this.#variables.length;
    switch (node.kind) {
      case 'action':
        yield* this.#pipe(node.pipe, dot);
        return;
      case 'if':
      case 'with':
      case 'range': {
        const value = yield* this.#pipe(node.pipe, dot, node.kind === 'range');
        const inner = node.kind === 'if' ? dot : node.kind === 'with' ? value : extend(value, [ELEMENT]);
        yield* deep(this.#list(node.list, inner));
        if (node.elseList !== undefined) yield* deep(this.#list(node.elseList, dot));
        this.#variables.length = mark;
        return;
      }
      case 'template': {
        const data = node.pipe === undefined ? undefined : yield* this.#pipe(node.pipe, dot);
        const definition = this.#lookup(node.name);
        if (definition !== undefined) yield* deep(this.template(definition, data));
        return;
      }
      default:
    }
  }

  /** Path of a pipeline's value; declares its variables, those of a range as elements. */
  *#pipe(pipe: PipeNode, dot: Path, isRange = false): Step<Path> {
    let path: Path;
    for (const cmd of pipe.cmds) path = yield* this.#command(cmd.args, dot);
    if (pipe.cmds.length > 1) path = undefined;
    if (pipe.isAssign) return path;
    pipe.decl.forEach((variable, i) => {
      const value = isRange && i === pipe.decl.length - 1 ? extend(path, [ELEMENT]) : isRange ? undefined : path;
      this.#variables.push({ name: variable.ident[0] ?? '', path: value });
    });
    return path;
  }

  *#command([first, ...args]: readonly Operand[], dot: Path): Step<Path> {
    if (first === undefined) return undefined;
    const path = yield* this.#operand(first, dot);
    const paths: Path[] = [];
    for (const arg of args) paths.push(yield* this.#operand(arg, dot));
    if (args.length === 0) return path;
    if (first.kind !== 'identifier' || first.name !== 'index') return undefined;
    return extend(
      paths[0],
      args.slice(1).map(() => ELEMENT),
    );
  }

  *#operand(node: Operand, dot: Path): Step<Path> {
    switch (node.kind) {
      case 'dot':
        return dot;
      case 'pipe':
        return yield* deep(this.#pipe(node, dot));
      case 'field':
        return this.#refer(node, dot, node.ident);
      case 'chain':
        return this.#refer(node, yield* this.#operand(node.node, dot), node.fields);
      case 'variable': {
        const [name, ...fields] = node.ident;
        const variable = this.#variables.findLast(each => each.name === name);
        return this.#refer(
          node,
          variable === undefined || this.#assigned.has(variable.name) ? undefined : variable.path,
          fields,
        );
      }
      default:
        return undefined;
    }
  }

  #refer(node: Operand, base: Path, fields: readonly Bytes[]): Path {
    const path = extend(base, fields);
    if (path === undefined || fields.length === 0) return path;
    this.found.push({
      path: path.map(decode),
      text: decode(nodeText(node)),
      template: decode(node.source.name),
      ...position(node.source, node.pos),
    });
    return path;
  }
}

/** A template that calls itself with ever deeper data is followed this often, and a path this far. */
const MAX_CALLS = 64;
const MAX_PATH = 256;

const extend = (path: Path, steps: readonly Bytes[]): Path =>
  path && path.length + steps.length <= MAX_PATH ? [...path, ...steps] : undefined;

/** Variables that `=` changes somewhere in a tree: what they hold depends on the way there. */
function assignedVariables(root: ListNode): ReadonlySet<Bytes> {
  const names = new Set<Bytes>();
  const todo: Node[] = [root];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    if (node.kind === 'pipe' && node.isAssign) for (const { ident } of node.decl) names.add(ident[0] ?? '');
    for (const child of children(node)) todo.push(child);
  }
  return names;
}
