/** The files with all of Stryker's mutants in them, of which a global says the active one. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.ts';

/** `npm run mutation:install` puts it there: 23 MB that only this command needs are no dependency of the project. */
const HOME = resolve('.cache/stryker/package.json');

/** What is used of `@stryker-mutator/instrumenter`. */
interface Stryker {
  readonly Instrumenter: new (logger: object) => {
    instrument(
      files: readonly { readonly name: string; readonly content: string; readonly mutate: true }[],
      options: { readonly plugins: null; readonly excludedMutations: []; readonly ignorers: [] },
    ): Promise<{
      readonly files: readonly { readonly name: string; readonly content: string }[];
      readonly mutants: readonly {
        readonly id: string;
        readonly fileName: string;
        readonly replacement: string;
        readonly location: { readonly start: Position; readonly end: Position };
      }[];
    }>;
  };
}

/** Both count from 0. */
interface Position {
  readonly line: number;
  readonly column: number;
}

const silent = { isDebugEnabled: () => false, debug: () => {}, info: () => {}, warn: () => {} };

/** @throws Error where Stryker is not installed */
export async function instrument(
  paths: readonly string[],
): Promise<{ readonly sources: Readonly<Record<string, string>>; readonly mutants: readonly Mutant[] }> {
  const { Instrumenter } = await loadStryker();
  const files = paths.map(name => ({ name, content: readFileSync(name, 'utf8'), mutate: true as const }));
  const made = await new Instrumenter(silent).instrument(files, { plugins: null, excludedMutations: [], ignorers: [] });
  const texts = new Map(files.map(({ name, content }) => [name, content.split('\n')]));
  const mutants = made.mutants.map(({ id, fileName, replacement, location: { start, end } }) => {
    const lines = texts.get(fileName) ?? [];
    const change = `${inOneLine(between(lines, start, end))} -> ${inOneLine(replacement)}`;
    return { id, file: fileName, line: start.line + 1, change: `${change} in: ${(lines[start.line] ?? '').trim()}` };
  });
  const sources = made.files.map(({ name, content }) => [pathToFileURL(resolve(name)).href, content] as const);
  return { sources: Object.fromEntries(sources), mutants };
}

async function loadStryker(): Promise<Stryker> {
  let path: string;
  try {
    path = createRequire(HOME).resolve('@stryker-mutator/instrumenter');
  } catch (cause) {
    throw new Error('Stryker is not installed: npm run mutation:install', { cause });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the version that package.json names has it
  return (await import(pathToFileURL(path).href)) as Stryker;
}

function between(lines: readonly string[], start: Position, end: Position): string {
  if (start.line === end.line) return (lines[start.line] ?? '').slice(start.column, end.column);
  const first = (lines[start.line] ?? '').slice(start.column);
  return [first, ...lines.slice(start.line + 1, end.line), (lines[end.line] ?? '').slice(0, end.column)].join('\n');
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');
