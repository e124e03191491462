/** Which files `curfew validate` looks at: those that are named, and in folders those that it knows. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { UsageError } from '../usage-error.ts';

/** Longest file; an object in a cluster is at most 1.5 MB, a snapshot of one larger. */
const MAX_BYTES = 50_000_000;
const KNOWN = /\.(ya?ml|toml|json)$/;
const SKIPPED = new Set(['node_modules', 'cdk.out']);

export interface SourceFile {
  readonly file: string;
  readonly text: string;
  /** Found in a folder, not named: what is none of ours in it is passed over. */
  readonly found: boolean;
}

/** Reads all of them. Throws `UsageError` for one that cannot be read, and for a folder without any. */
export async function readSources(paths: readonly string[]): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const path of paths) {
    const isFolder = (await usable(path, () => stat(path))).isDirectory();
    const files = isFolder ? await usable(path, () => filesIn(path)) : [path];
    if (files.length === 0) throw new UsageError(`${path}: the folder holds no .yaml, .yml, .json or .toml file`);
    for (const file of files) sources.push({ file, text: await readText(file), found: isFolder });
  }
  return sources;
}

/** The text of one file. Throws `UsageError`. */
export async function readText(file: string): Promise<string> {
  const { size } = await usable(file, () => stat(file));
  if (size > MAX_BYTES) throw new UsageError(`${file}: ${size} bytes, at most ${MAX_BYTES} are read`);
  return usable(file, () => readFile(file, 'utf8'));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) files.push(...(await filesIn(path)));
    else if (entry.isFile() && KNOWN.test(entry.name)) files.push(path);
  }
  return files;
}

async function usable<Answer>(path: string, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const what = code === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new UsageError(`${path}: ${what}`, { cause: error });
  }
}
