/** Parses what stands inside an action: pipelines, commands, operands. */
import { deep, type Step } from '../trampoline.ts';
import type { Bytes } from '../text/bytes.ts';
import { unquote } from '../text/quote.ts';
import type { Lexer } from './lexer.ts';
import { type CommandNode, nodeText, type Operand, type PipeNode, type Source, type VariableNode } from './nodes.ts';
import { readNumber } from './number.ts';
import type { Token, TokenKind } from './token.ts';
import { Tokens } from './tokens.ts';

/** Go's limit on nested parentheses. */
const MAX_PAREN_DEPTH = 10_000;

const OPERAND_KINDS: ReadonlySet<TokenKind> = new Set([
  'bool',
  'charConstant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);
const NOT_EXECUTABLE: ReadonlySet<Operand['kind']> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

export class PipelineParser extends Tokens {
  protected readonly functions: ReadonlySet<Bytes>;
  /** Variables in scope, innermost last, and how often each is there. */
  readonly #scope: Bytes[] = [];
  readonly #declared = new Map<Bytes, number>();
  #parens = 0;

  constructor(lexer: Lexer, source: Source, functions: ReadonlySet<Bytes>) {
    super(lexer, source);
    this.functions = functions;
    this.#declare('$');
  }

  #declare(name: Bytes): void {
    this.#scope.push(name);
    this.#declared.set(name, (this.#declared.get(name) ?? 0) + 1);
  }

  protected scopeMark(): number {
    return this.#scope.length;
  }

  /** Forgets the variables declared since `mark`. */
  protected closeScope(mark: number): void {
    for (const name of this.#scope.splice(mark)) this.#declared.set(name, this.#declared.get(name)! - 1);
  }

  protected at(pos: number): { pos: number; source: Source } {
    return { pos, source: this.source };
  }

  /** A pipeline with its closing token, `end`. */
  protected *pipeline(context: string, end: TokenKind): Step<PipeNode> {
    const pipe: PipeNode = { kind: 'pipe', ...this.at(this.peekNonSpace().pos), isAssign: false, decl: [], cmds: [] };
    this.#declarations(pipe, context);
    for (;;) {
      const token = this.nextNonSpace();
      if (token.kind === end) {
        this.#checkPipeline(pipe, context);
        return pipe;
      }
      if (!OPERAND_KINDS.has(token.kind)) this.unexpected(token, context);
      this.backup();
      pipe.cmds.push(yield* this.#command());
    }
  }

  /** `$x :=`, `$x =`, or in a range `$i, $x :=`. */
  #declarations(pipe: PipeNode, context: string): void {
    while (this.peekNonSpace().kind === 'variable') {
      const variable = this.next();
      const following = this.peek();
      const next = this.peekNonSpace();
      const isComma = next.kind === 'char' && next.text === ',';
      if (next.kind !== 'assign' && next.kind !== 'declare' && !isComma) {
        if (following.kind === 'space') this.backup3(variable, following);
        else this.backup2(variable);
        return;
      }
      this.nextNonSpace();
      pipe.decl.push(this.#variable(variable));
      this.#declare(variable.text);
      if (!isComma) {
        pipe.isAssign = next.kind === 'assign';
        return;
      }
      if (context !== 'range' || pipe.decl.length >= 2) this.fail('too many declarations in %s', context);
      if (!['variable', 'rightDelim', 'rightParen'].includes(this.peekNonSpace().kind)) {
        this.fail('range can only initialize variables');
      }
    }
  }

  #checkPipeline(pipe: PipeNode, context: string): void {
    if (pipe.cmds.length === 0) this.fail('missing value for %s', context);
    const bad = pipe.cmds.findIndex((cmd, i) => i > 0 && NOT_EXECUTABLE.has(cmd.args[0]!.kind));
    if (bad > 0) this.fail(`non executable command in pipeline stage ${bad + 1}`);
  }

  *#command(): Step<CommandNode> {
    const cmd: CommandNode = { kind: 'command', ...this.at(this.peekNonSpace().pos), args: [] };
    for (;;) {
      this.peekNonSpace();
      const operand = yield* this.#operand();
      if (operand !== undefined) cmd.args.push(operand);
      const token = this.next();
      if (token.kind === 'space') continue;
      if (token.kind === 'rightDelim' || token.kind === 'rightParen') this.backup();
      else if (token.kind !== 'pipe') this.unexpected(token, 'operand');
      if (cmd.args.length === 0) this.fail('empty command');
      return cmd;
    }
  }

  /** A term with the fields that follow it. */
  *#operand(): Step<Operand | undefined> {
    const term = yield* this.#term();
    if (term === undefined || this.peek().kind !== 'field') return term;
    const at = this.at(this.peek().pos);
    const fields: Bytes[] = [];
    while (this.peek().kind === 'field') fields.push(this.next().text.slice(1));
    switch (term.kind) {
      case 'field':
      case 'variable':
        return { ...term, ...at, ident: [...term.ident, ...fields] };
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.fail('unexpected . after term %q', nodeText(term));
      default:
        return { kind: 'chain', ...at, node: term, fields };
    }
  }

  *#term(): Step<Operand | undefined> {
    const token = this.nextNonSpace();
    const at = this.at(token.pos);
    switch (token.kind) {
      case 'identifier':
        if (!this.functions.has(token.text)) this.fail('function %q not defined', token.text);
        return { kind: 'identifier', ...at, name: token.text };
      case 'dot':
      case 'nil':
        return { kind: token.kind, ...at };
      case 'variable':
        if (!this.#declared.get(token.text)) this.fail('undefined variable %q', token.text);
        return this.#variable(token);
      case 'field':
        return { kind: 'field', ...at, ident: [token.text.slice(1)] };
      case 'bool':
        return { kind: 'bool', ...at, value: token.text === 'true' };
      case 'charConstant':
      case 'complex':
      case 'number': {
        const forms = readNumber(token.text, token.kind);
        if ('problem' in forms) return this.fail('%s', forms.problem);
        return { kind: 'number', ...at, text: token.text, ...forms };
      }
      case 'leftParen': {
        if (this.#parens >= MAX_PAREN_DEPTH) this.fail('max expression depth exceeded');
        this.#parens++;
        const pipe = yield* deep(this.pipeline('parenthesized pipeline', 'rightParen'));
        this.#parens--;
        return pipe;
      }
      case 'string':
      case 'rawString':
        return { kind: 'string', ...at, quoted: token.text, text: this.unquoted(token) };
      default:
        this.backup();
        return undefined;
    }
  }

  protected unquoted(token: Token): Bytes {
    return unquote(token.text) ?? this.fail('invalid syntax');
  }

  #variable(token: Token): VariableNode {
    return { kind: 'variable', ...this.at(token.pos), ident: [token.text] };
  }
}
