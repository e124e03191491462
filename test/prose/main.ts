/** `npm run lint:prose`: checks pages and messages, prints how long the sentences of each page are, exits 1 on a fault. `[FILE...]`: only these. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPage, wordsOfGlossary } from './check-page.ts';
import { PAGES, ROOT, type Page } from './pages.ts';
import { faultsOfMessages } from './messages.ts';

const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const asked = process.argv.slice(2);
const pages: readonly Page[] =
  asked.length === 0 ? PAGES : asked.map(file => PAGES.find(page => page.file === file) ?? { file, kind: 'reference' });
const glossary = wordsOfGlossary(readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8'));

let faults = 0;
const figures: string[] = [];
for (const page of pages) {
  const checked = await checkPage(page, glossary);
  faults += checked.faults.length;
  for (const { line, column, rule, message } of checked.faults) {
    print(`${page.file}:${line}:${column} ${rule}: ${message}`);
  }
  const numbers = [checked.lines, checked.sentences, checked.medianWords, checked.longestWords];
  figures.push(`${numbers.map(number => String(number).padStart(6)).join('')}  ${page.kind.padEnd(10)}${page.file}`);
}
if (asked.length === 0) {
  for (const { file, line, message } of faultsOfMessages()) {
    faults += 1;
    print(`${file}:${line} message: ${message}`);
  }
}
print(' lines sents median longest (words a sentence)');
for (const line of figures) print(line);
print(faults === 0 ? `prose: ${pages.length} pages, no fault` : `prose: ${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;
