/** All source files and what they import, types included. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  readonly from: string;
  /** A path in the repository, or a package name. */
  readonly to: string;
  /** Gone when the program runs. */
  readonly isType: boolean;
}

const FOLDERS = 'functions,shared,forwarder,infra,deploy,runtime,simulator,packages,cli,bench,examples,release';
export const sources: readonly string[] = globSync(`{${FOLDERS}}/**/*.ts`, { cwd: root }).toSorted();

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/(import type [^;']*)?(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, type, specifier = '']) => ({
    from: file,
    to: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier,
    isType: type !== undefined,
  }));
}

export const imports: readonly Import[] = sources.flatMap(importsOf);

/** A record's schema is its type, and a type brings no schema into the rule. */
export const isRecordType = ({ isType, to }: Import): boolean => isType && /[/-]record\.ts$/.test(to);
