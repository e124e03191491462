/** Parses a template's text into trees: its own and those it defines. */
import type { Bytes } from '../text/bytes.ts';
import { deep, run, type Step } from '../trampoline.ts';
import { type Delims, Lexer } from './lexer.ts';
import {
  type BranchNode,
  type EndNode,
  isEmptyTree,
  type JumpNode,
  type ListNode,
  nodeText,
  type PipeNode,
  type Source,
  type Statement,
  type TemplateNode,
} from './nodes.ts';
import { PipelineParser } from './pipeline-parser.ts';
import type { Token } from './token.ts';

/** Trees by template name. */
export type Trees = Map<Bytes, ListNode>;

/**
 * Parses `text`; gives its tree under `name` and one for each `define` and `block` in it.
 * @throws {ParseError} with Go's message.
 */
export function parseTrees(name: Bytes, text: Bytes, delims: Delims, functions: ReadonlySet<Bytes>): Trees {
  const free = new Set(['break', 'continue'].filter(word => functions.has(word)));
  const trees: Trees = new Map();
  run(new Parser(new Lexer(text, delims, free), { name, text }, functions, trees).parse(name));
  return trees;
}

const isEnd = (node: Statement | EndNode): node is EndNode => node.kind === 'end' || node.kind === 'else';

class Parser extends PipelineParser {
  readonly #trees: Trees;
  #rangeDepth = 0;

  constructor(lexer: Lexer, source: Source, functions: ReadonlySet<Bytes>, trees: Trees) {
    super(lexer, source, functions);
    this.#trees = trees;
  }

  /** A parser for a definition inside this text: its own variables, ranges and lookahead. */
  #nested(): Parser {
    return new Parser(this.lexer, this.source, this.functions, this.#trees);
  }

  *parse(name: Bytes): Step<void> {
    const root = this.#list(this.peek().pos);
    while (this.peek().kind !== 'eof') {
      if (this.peek().kind === 'leftDelim') {
        const delim = this.next();
        if (this.nextNonSpace().kind === 'define') {
          yield* this.#nested().#definition();
          continue;
        }
        this.backup2(delim);
      }
      const node = yield* this.#textOrAction();
      if (isEnd(node)) this.fail('unexpected %s', nodeText(node));
      root.nodes.push(node);
    }
    this.#add(name, root);
  }

  /** Keeps a tree, unless its name has one already; of two, one must be empty. */
  #add(name: Bytes, root: ListNode): void {
    const known = this.#trees.get(name);
    if (known === undefined || isEmptyTree(known)) this.#trees.set(name, root);
    else if (!isEmptyTree(root)) this.fail('template: multiple definition of template %q', name);
  }

  *#definition(): Step<void> {
    const name = this.unquoted(this.expect('define clause', 'string', 'rawString'));
    this.expect('define clause', 'rightDelim');
    const [root, end] = yield* this.#itemList();
    if (end.kind !== 'end') this.fail('unexpected %s in %s', nodeText(end), 'define clause');
    this.#add(name, root);
  }

  #list(pos: number): ListNode {
    return { kind: 'list', ...this.at(pos), nodes: [] };
  }

  /** Nodes up to `end` or `else`. */
  *#itemList(): Step<readonly [ListNode, EndNode]> {
    const list = this.#list(this.peekNonSpace().pos);
    while (this.peekNonSpace().kind !== 'eof') {
      const node = yield* this.#textOrAction();
      if (isEnd(node)) return [list, node];
      list.nodes.push(node);
    }
    return this.fail('unexpected EOF');
  }

  *#textOrAction(): Step<Statement | EndNode> {
    const token = this.nextNonSpace();
    if (token.kind === 'text') return { kind: 'text', ...this.at(token.pos), text: token.text };
    if (token.kind !== 'leftDelim') return this.unexpected(token, 'input');
    this.actionLine = token.line;
    const node = yield* this.#action();
    this.actionLine = 0;
    return node;
  }

  *#action(): Step<Statement | EndNode> {
    const token = this.nextNonSpace();
    switch (token.kind) {
      case 'block':
        return yield* this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.kind, token.pos);
      case 'else':
        return this.#else();
      case 'end':
        return { kind: 'end', ...this.at(this.expect('end', 'rightDelim').pos) };
      case 'if':
      case 'range':
      case 'with':
        return yield* deep(this.#control(token.kind));
      case 'template':
        return yield* this.#template();
      default: {
        this.backup();
        const { pos } = this.peek();
        return { kind: 'action', ...this.at(pos), pipe: yield* this.pipeline('command', 'rightDelim') };
      }
    }
  }

  #jump(kind: JumpNode['kind'], pos: number): JumpNode {
    const token = this.nextNonSpace();
    if (token.kind !== 'rightDelim') this.unexpected(token, `{{${kind}}}`);
    if (this.#rangeDepth === 0) this.fail(`{{${kind}}} outside {{range}}`);
    return { kind, ...this.at(pos) };
  }

  #else(): EndNode {
    const next = this.peekNonSpace();
    if (next.kind === 'if' || next.kind === 'with') return { kind: 'else', ...this.at(next.pos) };
    return { kind: 'else', ...this.at(this.expect('else', 'rightDelim').pos) };
  }

  *#control(kind: BranchNode['kind']): Step<BranchNode> {
    const mark = this.scopeMark();
    const pipe = yield* this.pipeline(kind, 'rightDelim');
    if (kind === 'range') this.#rangeDepth++;
    const [list, next] = yield* this.#itemList();
    if (kind === 'range') this.#rangeDepth--;
    const elseList = next.kind === 'else' ? yield* this.#elseList(kind, next) : undefined;
    this.closeScope(mark);
    return { kind, ...this.at(pipe.pos), pipe, list, elseList };
  }

  /** What follows `else`: a list, or the same control again (`else if`, `else with`), which brings its own `end`. */
  *#elseList(kind: BranchNode['kind'], next: EndNode): Step<ListNode> {
    if (kind !== 'range' && this.peek().kind === kind) {
      this.next();
      const list = this.#list(next.pos);
      list.nodes.push(yield* deep(this.#control(kind)));
      return list;
    }
    const [list, end] = yield* this.#itemList();
    if (end.kind !== 'end') this.fail('expected end; found %s', nodeText(end));
    return list;
  }

  *#block(): Step<TemplateNode> {
    const context = 'block clause';
    const token = this.nextNonSpace();
    const name = this.#templateName(token, context);
    const pipe = yield* this.pipeline(context, 'rightDelim');
    const nested = this.#nested();
    const [root, end] = yield* deep(nested.#itemList());
    if (end.kind !== 'end') this.fail('unexpected %s in %s', nodeText(end), context);
    nested.#add(name, root);
    return { kind: 'template', ...this.at(token.pos), name, pipe };
  }

  *#template(): Step<TemplateNode> {
    const context = 'template clause';
    const token = this.nextNonSpace();
    const name = this.#templateName(token, context);
    let pipe: PipeNode | undefined;
    if (this.nextNonSpace().kind !== 'rightDelim') {
      this.backup();
      pipe = yield* this.pipeline(context, 'rightDelim');
    }
    return { kind: 'template', ...this.at(token.pos), name, pipe };
  }

  #templateName(token: Token, context: string): Bytes {
    if (token.kind !== 'string' && token.kind !== 'rawString') this.unexpected(token, context);
    return this.unquoted(token);
  }
}
