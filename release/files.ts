/** Files of the repository as entries of an archive. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './archive.ts';

/** The repository. */
export const ROOT = join(import.meta.dirname, '..');

/**
 * @param folder that holds them; relative to the repository, or absolute
 * @param patterns of files below it
 * @param under what their paths begin with in the archive
 */
export function filesOf(folder: string, patterns: readonly string[], under: string): readonly Entry[] {
  const cwd = folder.startsWith('/') ? folder : join(ROOT, folder);
  return globSync(patterns, { cwd })
    .filter(file => statSync(join(cwd, file)).isFile())
    .map(file => ({ path: `${under}${file}`, contents: readFileSync(join(cwd, file)) }));
}
