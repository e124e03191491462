/** The documents know each contract suite, and how many ports have one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './documents.ts';

const FOLDER = join(ROOT, 'test/contract');
const suites = readdirSync(FOLDER).filter(file => file.endsWith('.contract.ts'));
const WORDS = ['six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

it('testing.md has a row for each contract suite, and none for another', () => {
  const text = readFileSync(join(ROOT, 'docs/internals/testing.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (`.*?\.contract\.ts`) \|/gm)].map(([, cell = '']) => cell).join(' ');
  const listed = [...rows.matchAll(/`([\w-]+\.contract\.ts)`/g)].map(([, file = '']) => file);
  expect(listed.toSorted()).toEqual(suites.toSorted());
});

it('ARCHITECTURE.md says how many ports have one', () => {
  // Its first import of a port is the one that a suite is about.
  const ports = suites.flatMap(
    suite =>
      /from '\.\.\/\.\.\/shared\/ports\/([\w-]+)\.ts'/.exec(readFileSync(join(FOLDER, suite), 'utf8'))?.[1] ?? [],
  );
  expect(ports).toContain('hooks');
  const said = /(\w+) ports have a contract suite/.exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[1];
  expect(said?.toLowerCase()).toBe(WORDS[new Set(ports).size - 6]);
});
