import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { searchCommand } from '../../cli/search.ts';

const TIMEOUT_MS = 120_000;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'curfew-search-'));
});
afterEach(async () => await rm(folder, { recursive: true }));

async function search(corpus: string): Promise<{ code: number; out: string }> {
  let out = '';
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (out += text) };
  const code = await searchCommand({ seeds: '3..3', variations: '1', jobs: '1', corpus, failures: folder }, output);
  return { code, out };
}

it(
  'begins with the corpus, and writes what it keeps',
  async () => {
    const corpus = join(folder, 'corpus.txt');
    await writeFile(corpus, '5.1\n');
    const { code, out } = await search(corpus);
    expect(out).toMatch(/^2 trials reached [\d,]+ blocks of code, and 1 variations [\d,]+ more\n/);
    expect(code).toBe(0);
    expect((await readFile(corpus, 'utf8')).split('\n')).toContain('3');
  },
  TIMEOUT_MS,
);

it('says which line of the corpus is no name', async () => {
  const corpus = join(folder, 'corpus.txt');
  await writeFile(corpus, '5.1\nfive\n');
  await expect(search(corpus)).rejects.toThrow('has "five", which is no seed and no variation of one');
});
