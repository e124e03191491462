/** What our pages keep to, as rules of textlint. They are made for one page, whose kind they know. */
import type { TextlintKernelRule } from '@textlint/kernel';
import { LIMITS, type Kind } from './pages.ts';
import { countWords, sentencesOf, textOf, wordsOfItem, type Parent, type Sentence } from './sentences.ts';
import { BEGINS_BADLY, OWN_WORDS, PLAIN_WORDS } from './words.ts';

type Say = (node: Parent, message: string, at?: number) => void;
type Handlers = Readonly<Record<string, (node: Parent) => void>>;

function rule(ruleId: string, handlers: (say: Say) => Handlers): TextlintKernelRule {
  const module: TextlintKernelRule['rule'] = ({ report, RuleError, locator }) =>
    handlers((node, message, at = node.range[0]) => {
      report(node, new RuleError(message, { padding: locator.at(at - node.range[0]) }));
    });
  return { ruleId, rule: module };
}

/** The same of paragraphs and of the cells of tables. */
const inSentences = (check: (sentence: Sentence, node: Parent) => void): Handlers => {
  const each = (node: Parent): void => {
    for (const sentence of sentencesOf(node)) check(sentence, node);
  };
  return { Paragraph: each, TableCell: each };
};

const quoted = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;

/** Every rule for a page of this kind. `glossary`: the words that docs/glossary.md explains, in lower case. */
export function rulesOf(kind: Kind, glossary: ReadonlySet<string>): readonly TextlintKernelRule[] {
  const limits = LIMITS[kind];
  return [
    rule('sentence-length', say =>
      inSentences(({ text, words, at }, node) => {
        if (words <= limits.sentenceWords) return;
        say(node, `${words} words, at most ${limits.sentenceWords}: ${quoted(text)}`, at);
      }),
    ),
    rule('item-length', say => ({
      ListItem: node => {
        const words = wordsOfItem(node);
        if (words > limits.itemWords) say(node, `an item of ${words} words, at most ${limits.itemWords}`);
      },
      TableCell: node => {
        const words = countWords(textOf(node));
        if (words > limits.cellWords) say(node, `a cell of ${words} words, at most ${limits.cellWords}`);
      },
    })),
    rule('subject-first', say =>
      inSentences(({ text, at }, node) => {
        if (text.endsWith('?')) return;
        const found = BEGINS_BADLY.find(({ pattern }) => pattern.test(text));
        if (found !== undefined) say(node, `begin with ${found.instead}: ${quoted(text)}`, at);
      }),
    ),
    rule('plain-words', say =>
      inSentences(({ text, at }, node) => {
        for (const { pattern, instead } of PLAIN_WORDS) {
          const [word] = pattern.exec(text) ?? [];
          if (word !== undefined) say(node, `"${word}": ${instead}`, at);
        }
      }),
    ),
    ...(kind === 'internals' ? [] : [ownWords(glossary)]),
  ];
}

/** A word of ours is explained to users. */
const ownWords = (glossary: ReadonlySet<string>): TextlintKernelRule =>
  rule('own-words', say =>
    inSentences(({ text, at }, node) => {
      for (const word of OWN_WORDS) {
        if (glossary.has(word) || !new RegExp(`\\b${word}s?\\b`, 'i').test(text)) continue;
        say(node, `"${word}" is not in docs/glossary.md`, at);
      }
    }),
  );

/** No rule: notes the words of each sentence outside of tables. */
export const measuring = (words: number[]): TextlintKernelRule =>
  rule('measure', () => ({
    Paragraph: node => {
      words.push(...sentencesOf(node).map(sentence => sentence.words));
    },
  }));
