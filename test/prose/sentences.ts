/** The sentences of a page and how long they are. A piece of code counts as one word, whatever it holds. */
import { splitAST } from 'sentence-splitter';

/** A paragraph, an item of a list, a cell: what has children. */
export type Parent = Parameters<typeof splitAST>[0];
type Node = Parent['children'][number];

export interface Sentence {
  readonly text: string;
  readonly words: number;
  /** The offset in the page. */
  readonly at: number;
}

/** As it is read aloud: links by their text, code as one word, neither images nor HTML. */
function readAloud(node: object): string {
  const { type, value, children } = node as { type: string; value?: string; children?: readonly Node[] };
  if (type === 'Code') return '`code`';
  if (type === 'Str' || type === 'Punctuation' || type === 'WhiteSpace') return value ?? '';
  if (type === 'Break') return ' ';
  return (children ?? []).map(readAloud).join('');
}

export const textOf = (node: object): string => readAloud(node).replaceAll(/\s+/g, ' ').trim();

/** A word has a letter or a digit. */
export const countWords = (text: string): number => text.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word)).length;

/** Its parts: a bold text that ends with a full stop is a sentence of its own. */
function partsOf({ children, range }: Parent): readonly (readonly [string, number])[] {
  const parts: [string, number][] = [['', range[0]]];
  for (const child of children) {
    const [part = ['', 0]] = parts.slice(-1);
    part[0] += readAloud(child);
    if (child.type === 'Strong' && /[.:?]$/.test(textOf(child))) parts.push(['', child.range[1]]);
  }
  return parts;
}

/** Those of a paragraph or cell. */
export function sentencesOf(node: Parent): readonly Sentence[] {
  return splitAST(node)
    .children.filter(({ type }) => type === 'Sentence')
    .flatMap(sentence => partsOf(sentence as Parent))
    .map(([said, at]) => {
      const text = said.replaceAll(/\s+/g, ' ').trim();
      return { text, words: countWords(text), at };
    })
    .filter(({ words }) => words > 0);
}

/** The words of its own paragraphs; lists inside of it count for themselves. */
export const wordsOfItem = ({ children }: { readonly children: readonly { readonly type: string }[] }): number =>
  children.filter(({ type }) => type === 'Paragraph').reduce((sum, each) => sum + countWords(textOf(each)), 0);
