/** The tree of a parsed template. */
import type { Bytes } from '../text/bytes.ts';
import { quote } from '../text/quote.ts';
import type { Complex } from '../types/value.ts';

/** The text a node stands in; the name is the one under which it was parsed. */
export interface Source {
  readonly name: Bytes;
  readonly text: Bytes;
}

interface At {
  /** In bytes from the start of the text. */
  readonly pos: number;
  readonly source: Source;
}

export interface ListNode extends At {
  readonly kind: 'list';
  readonly nodes: Statement[];
}
export interface TextNode extends At {
  readonly kind: 'text';
  readonly text: Bytes;
}
export interface ActionNode extends At {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}
export interface BranchNode extends At {
  readonly kind: 'if' | 'with' | 'range';
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}
export interface TemplateNode extends At {
  readonly kind: 'template';
  readonly name: Bytes;
  readonly pipe: PipeNode | undefined;
}
export interface JumpNode extends At {
  readonly kind: 'break' | 'continue';
}
export type Statement = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

/** Ends of a list, for the parser only. */
export interface EndNode extends At {
  readonly kind: 'end' | 'else';
}

export interface PipeNode extends At {
  readonly kind: 'pipe';
  /** `=`, not `:=`. */
  isAssign: boolean;
  readonly decl: VariableNode[];
  readonly cmds: CommandNode[];
}
export interface CommandNode extends At {
  readonly kind: 'command';
  readonly args: Operand[];
}
export interface IdentifierNode extends At {
  readonly kind: 'identifier';
  readonly name: Bytes;
}
export interface VariableNode extends At {
  readonly kind: 'variable';
  /** The variable with its `$`, then fields. */
  readonly ident: readonly Bytes[];
}
export interface FieldNode extends At {
  readonly kind: 'field';
  readonly ident: readonly Bytes[];
}
export interface ChainNode extends At {
  readonly kind: 'chain';
  readonly node: Operand;
  readonly fields: readonly Bytes[];
}
export interface DotNode extends At {
  readonly kind: 'dot';
}
export interface NilNode extends At {
  readonly kind: 'nil';
}
export interface BoolNode extends At {
  readonly kind: 'bool';
  readonly value: boolean;
}
/** A number has every form its text can have without loss. */
export interface NumberNode extends At {
  readonly kind: 'number';
  readonly text: Bytes;
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
  readonly complex: Complex | undefined;
}
export interface StringNode extends At {
  readonly kind: 'string';
  readonly quoted: Bytes;
  readonly text: Bytes;
}
export type Operand =
  | PipeNode
  | IdentifierNode
  | VariableNode
  | FieldNode
  | ChainNode
  | DotNode
  | NilNode
  | BoolNode
  | NumberNode
  | StringNode;

/** What an error can be about. */
export type Node = Statement | ListNode | EndNode | Operand | CommandNode;

type Piece = Bytes | Operand | CommandNode;

/** A node in the form Go's messages show it; without recursion, since parentheses may nest deeply. */
export function nodeText(node: Node): Bytes {
  let out = '';
  const todo: Piece[] = statementPieces(node).toReversed();
  for (let piece = todo.pop(); piece !== undefined; piece = todo.pop()) {
    if (typeof piece === 'string') out += piece;
    else for (const part of pieces(piece).toReversed()) todo.push(part);
  }
  return out;
}

function statementPieces(node: Node): Piece[] {
  switch (node.kind) {
    case 'action':
      return ['{{', node.pipe, '}}'];
    case 'template':
      return [`{{template ${quote(node.name)}`, ...(node.pipe ? [' ', node.pipe] : []), '}}'];
    case 'end':
    case 'else':
    case 'break':
    case 'continue':
      return [`{{${node.kind}}}`];
    case 'text':
    case 'list':
    case 'if':
    case 'with':
    case 'range':
      return [];
    default:
      return [node];
  }
}

function pieces(node: Operand | CommandNode): Piece[] {
  switch (node.kind) {
    case 'pipe':
      return [...declaration(node), ...node.cmds.flatMap((cmd, i) => (i > 0 ? [' | ', cmd] : [cmd]))];
    case 'command':
      return node.args.flatMap((arg, i) => [i > 0 ? ' ' : '', ...parenthesised(arg)]);
    case 'chain':
      return [...parenthesised(node.node), ...node.fields.map(field => '.' + field)];
    case 'identifier':
      return [node.name];
    case 'variable':
      return [node.ident.join('.')];
    case 'field':
      return node.ident.map(name => '.' + name);
    case 'dot':
      return ['.'];
    case 'nil':
      return ['nil'];
    case 'bool':
      return [String(node.value)];
    case 'number':
      return [node.text];
    case 'string':
      return [node.quoted];
  }
}

const parenthesised = (node: Operand): Piece[] => (node.kind === 'pipe' ? ['(', node, ')'] : [node]);

function declaration(pipe: PipeNode): Piece[] {
  if (pipe.decl.length === 0) return [];
  return [pipe.decl.map(v => v.ident.join('.')).join(', ') + (pipe.isAssign ? ' = ' : ' := ')];
}

/** True for a template of nothing but space and comments: it does not replace one that has something. */
export function isEmptyTree(list: ListNode): boolean {
  return list.nodes.every(node => node.kind === 'text' && /^[\t\n\v\f\r ]*$/.test(trimUnicodeSpace(node.text)));
}

/** UTF-8 of U+0085 and U+00A0 and the other spaces that Go's `bytes.TrimSpace` takes. */
const trimUnicodeSpace = (text: Bytes): Bytes =>
  text.replaceAll(/\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80/g, '');
