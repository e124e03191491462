/** One page: what is against the rules, and how long its sentences are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { LIMITS, ROOT, type Kind, type Page } from './pages.ts';
import { measuring, rulesOf } from './rules.ts';

export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly message: string;
}

export interface CheckedPage {
  readonly faults: readonly Fault[];
  readonly lines: number;
  readonly sentences: number;
  readonly medianWords: number;
  readonly longestWords: number;
}

/** The word with which a page says what it is. */
const SAYS: Readonly<Record<Kind, string>> = {
  guide: '**Guide.**',
  reference: '**Reference.**',
  internals: '**Internals.**',
};

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

/** Faults of the page as a whole. */
function faultsOfPage(text: string, kind: Kind, lines: number): readonly Fault[] {
  const most = LIMITS[kind].lines;
  const saysKind = text.split('\n').some(line => line.startsWith(SAYS[kind]));
  return [
    ...(most !== undefined && lines > most
      ? [{ line: most + 1, column: 1, rule: 'page-length', message: `a page of ${lines} lines, at most ${most}` }]
      : []),
    ...(saysKind ? [] : [{ line: 1, column: 1, rule: 'page-kind', message: `no paragraph begins with ${SAYS[kind]}` }]),
  ];
}

/** The front pages of the repository say by their place what they are. */
const isFrontPage = (file: string): boolean => !file.includes('/');

export async function checkText(
  text: string,
  { file, kind }: Page,
  glossary: ReadonlySet<string>,
): Promise<CheckedPage> {
  const words: number[] = [];
  const { messages } = await new TextlintKernel().lintText(text, {
    ext: '.md',
    filePath: file,
    plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
    rules: [...rulesOf(kind, glossary), measuring(words)],
  });
  const lines = text.trimEnd().split('\n').length;
  const ofPage = faultsOfPage(text, kind, lines).filter(({ rule }) => rule !== 'page-kind' || !isFrontPage(file));
  const faults = messages.map(({ loc, ruleId, message }) => ({ ...loc.start, rule: ruleId, message }));
  return {
    faults: [...ofPage, ...faults],
    lines,
    sentences: words.length,
    medianWords: median(words),
    longestWords: Math.max(0, ...words),
  };
}

export const checkPage = (page: Page, glossary: ReadonlySet<string>): Promise<CheckedPage> =>
  checkText(readFileSync(join(ROOT, page.file), 'utf8'), page, glossary);

/** The words in the first column of the glossary's table. */
export const wordsOfGlossary = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
      cell
        .toLowerCase()
        .split(',')
        .map(word => word.trim()),
    ),
  );
