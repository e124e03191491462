/** All source files and what they import, types included. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  readonly from: string;
  /** A path in the repository, or a package name. */
  readonly to: string;
}

const FOLDERS = 'functions,shared,forwarder,infra,deploy,runtime,simulator,packages,cli,bench,examples,release';
export const sources: readonly string[] = globSync(`{${FOLDERS}}/**/*.ts`, { cwd: root }).toSorted();

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1] ?? '');
  return specifiers.map(specifier => ({
    from: file,
    to: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier,
  }));
}

export const imports: readonly Import[] = sources.flatMap(importsOf);
