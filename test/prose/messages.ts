/** The texts in the code that people read: Events, audit lines, what the command line says. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './pages.ts';
import { countWords } from './sentences.ts';
import { PLAIN_WORDS } from './words.ts';

export interface MessageFault {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const MAX_WORDS = 35;
/** A text between quotes on one line; a part that is filled in counts as one word. */
const TEXTS = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\\n]|\\.)*)`/g;

/** Those of a file that have four words or more. */
export function faultsOfSource(file: string, source: string): readonly MessageFault[] {
  return source.split('\n').flatMap((text, index) => {
    if (/^\s*(\/\/|\/?\*)/.test(text)) return [];
    return [...text.matchAll(TEXTS)].flatMap(([, plain, template]) => {
      const said = (plain ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, 'X');
      if (countWords(said) < 4) return [];
      const long = said.split(/[.;:](?:\s|$)/).filter(sentence => countWords(sentence) > MAX_WORDS);
      const unplain = PLAIN_WORDS.filter(({ pattern }) => pattern.test(said));
      return [
        ...long.map(sentence => ({ file, line: index + 1, message: `${countWords(sentence)} words: ${sentence}` })),
        ...unplain.map(({ pattern, instead }) => ({
          file,
          line: index + 1,
          message: `"${pattern.exec(said)?.[0] ?? ''}": ${instead}`,
        })),
      ];
    });
  });
}

export const faultsOfMessages = (): readonly MessageFault[] =>
  globSync('{cli,forwarder,functions,infra,shared,simulator}/**/*.ts', { cwd: ROOT })
    .toSorted()
    .flatMap(file => faultsOfSource(file, readFileSync(join(ROOT, file), 'utf8')));
