/** What the prose check finds, and which pages it reads. */
import { describe, expect, it } from 'vitest';
import { checkText, wordsOfGlossary } from './check-page.ts';
import { faultsOfSource } from './messages.ts';
import { PAGES, type Kind } from './pages.ts';

const glossary = wordsOfGlossary('| word | meaning |\n|---|---|\n| veto, hold | x |\n');

async function found(text: string, kind: Kind = 'guide'): Promise<readonly string[]> {
  const { faults } = await checkText(
    `${kind === 'guide' ? '**Guide.**' : '**Reference.**'} A page.\n\n${text}`,
    { file: 'docs/x.md', kind },
    glossary,
  );
  return faults.map(({ rule, line }) => `${rule} ${line}`);
}

const words = (count: number): string => `It${' is'.repeat(count - 1)}.`;

describe('the prose check', () => {
  it.each<[string, string, readonly string[]]>([
    ['takes a sentence of 25 words in a guide', words(25), []],
    ['refuses one of 26', words(26), ['sentence-length 3']],
    ['takes code as one word', `${words(24).slice(0, -1)} \`a b c d e f\`.`, []],
    ['counts the text of a link, not its address', `[${words(26)}](x.md)`, ['sentence-length 3']],
    ['says on which line', `It is.\nIt was.\n\n${words(26)}`, ['sentence-length 6']],
    ['reads cells of tables', `| a |\n|---|\n| ${words(26)} |`, ['sentence-length 5']],
    ['refuses an item of more than 40 words', `- ${words(20)} ${words(21)}`, ['item-length 3']],
    ['counts an inner list for itself', `- ${words(20)}\n  - ${words(21)}`, []],
    ['wants the subject first', 'Of several policies one wins.', ['subject-first 3']],
    ['lets a question begin as it likes', 'What holds it?', []],
    ['knows connectives of another language', 'It is published anew.', ['plain-words 3']],
    ['takes bold text with a full stop for a sentence', `**${words(20)}** ${words(20)}`, []],
    ['passes over blocks of code', '```\nanew\n```', []],
    ['wants a word of ours in the glossary', 'The ramp begins.', ['own-words 3']],
    ['takes one that is there', 'The vetoes and the hold.', []],
  ])('%s', async (_, text, faults) => {
    expect(await found(text)).toEqual(faults);
  });

  it('takes up to 35 words in a reference', async () => {
    expect(await found(words(35), 'reference')).toEqual([]);
    expect(await found(words(36), 'reference')).toEqual(['sentence-length 3']);
  });

  it('takes 150 lines in a guide, and any number in a reference', async () => {
    const lines = 'It is.\n\n'.repeat(80);
    expect(await found(lines)).toEqual(['page-length 151']);
    expect(await found(lines, 'reference')).toEqual([]);
  });

  it('wants a page to say what it is', async () => {
    const { faults } = await checkText('It is.\n', { file: 'docs/x.md', kind: 'guide' }, glossary);
    expect(faults.map(({ rule }) => rule)).toEqual(['page-kind']);
  });

  it('measures sentences', async () => {
    const text = [words(3), words(4), words(9)].join(' ');
    const measured = await checkText(text, { file: 'README.md', kind: 'guide' }, glossary);
    expect(measured).toMatchObject({ sentences: 3, medianWords: 4, longestWords: 9, faults: [] });
  });

  it('finds messages in the code, with what is filled in as one word', () => {
    expect(faultsOfSource('x.ts', "say('the node is looked at anew');")).toMatchObject([{ line: 1 }]);
    expect(faultsOfSource('x.ts', `\nsay('${words(36)}');`)).toMatchObject([{ line: 2 }]);
    expect(faultsOfSource('x.ts', '// anew, as is said\nsay(`the node ${a + b + c} is gone`);')).toEqual([]);
  });
});

it('pages of the docs folder, and the front pages, are checked', () => {
  const files = PAGES.map(({ file }) => file);
  expect(files).toEqual(expect.arrayContaining(['ARCHITECTURE.md', 'docs/data-flow.md', 'docs/node-repair.md']));
});
