/** What documents show as printed by a command: the command, on files of this folder, prints it line by line. */
import { describe, expect, it } from 'vitest';
import { runHere } from '../cli/run-curfew.ts';
import { blocks, DOCUMENTS, isCommand } from './documents.ts';

interface Printed {
  readonly file: string;
  /** Begins the block. */
  readonly start: string;
  readonly args: readonly string[];
  readonly code: number;
}

const FOLDER = 'test/docs/printed/';
const PRINTED: readonly Printed[] = [
  {
    file: 'docs/configuration.md',
    start: 'policies/web.yaml:5:9: error: ',
    args: ['validate', `${FOLDER}policies/web.yaml`],
    code: 1,
  },
  {
    file: 'docs/do-not-disrupt.md',
    start: '$ curfew explain node n1',
    args: ['explain', 'node', 'n1', '--scenario', `${FOLDER}kept.yaml`, '--at', '2h'],
    code: 0,
  },
  {
    file: 'docs/simulation.md',
    start: 'Summary',
    args: ['simulate', `${FOLDER}summary.yaml`, '--no-writes'],
    code: 0,
  },
];

const plain = DOCUMENTS.flatMap(document =>
  blocks(document)
    .filter(({ language }) => language === '')
    .map(({ lines }) => ({ file: document.file, text: lines.join('\n').trimEnd() })),
);
/** Drawn with lines and arrows. */
const isDiagram = (text: string): boolean => /─|──▶/.test(text);
const isTyped = (text: string): boolean => text.split('\n').every(line => isCommand(line));

describe('what documents show as printed', () => {
  it.each(PRINTED)('in $file, from "$start", is what the command prints', async ({ file, start, args, code }) => {
    const block = plain.find(each => each.file === file && each.text.startsWith(start))?.text ?? '';
    const shown = block.split('\n').filter(line => !line.startsWith('$ '));
    expect(shown.length).toBeGreaterThan(3);
    const { code: ended, stdout, stderr } = await runHere(args);
    expect(ended).toBe(code);
    const lines = `${stdout}${stderr}`.replaceAll(FOLDER, '').split('\n');
    const from = lines.indexOf(shown[0] ?? '');
    expect(lines.slice(from, from + shown.length)).toEqual(shown);
  });

  it('is compared, wherever a block without a language is neither a drawing nor what is typed', () => {
    const others = plain
      .filter(({ text }) => !isDiagram(text) && !isTyped(text))
      .filter(({ file, text }) => !PRINTED.some(each => each.file === file && text.startsWith(each.start)));
    expect(others).toEqual([]);
  });
});
