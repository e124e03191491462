/** The files of a folder that Curfew may read something of, in the order of their names. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const KNOWN = /\.(ya?ml|toml|json)$/;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'cdk.out']);

/** Those of its folders included; hidden ones, and what tools put there, are not. Throws errors of the file system. */
export function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry): readonly string[] => {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return [];
      if (entry.isDirectory()) return filesIn(path);
      return entry.isFile() && KNOWN.test(entry.name) ? [path] : [];
    });
}
