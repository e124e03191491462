/** Finds the files that `curfew validate` looks at: those that are named, and in folders those that it knows. */
import { stat } from 'node:fs/promises';
import { filesIn } from '../../simulator/scenario/folder.ts';
import { messageOf } from '../../shared/errors.ts';
import { describeSystemError, whereNpmLooks } from '../failure.ts';
import { readBounded, readStream, sizeOf } from '../read-bounded.ts';
import { UsageError } from '../usage-error.ts';

/** Longest file; an object in a cluster is at most 1.5 MB, a snapshot of one larger. */
const MAX_BYTES = 50_000_000;
/** Standard input, where a file is asked for, as with `kubectl -f -`. */
const STANDARD_INPUT = '-';

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
    const isFolder = path !== STANDARD_INPUT && (await usable(path, () => stat(path))).isDirectory();
    const files = isFolder ? await usable(path, async () => filesIn(path)) : [path];
    if (files.length === 0) throw new UsageError(`${path}: the folder holds no .yaml, .yml, .json or .toml file`);
    for (const file of files) sources.push({ file, text: await readText(file), found: isFolder });
  }
  return sources;
}

/** The text of one file. Throws `UsageError`. */
export async function readText(file: string): Promise<string> {
  const bytes =
    file === STANDARD_INPUT ? await readStream(process.stdin, MAX_BYTES) : await usable(file, () => readLimited(file));
  if (bytes === undefined) throw new UsageError(`${file}: at most ${MAX_BYTES} bytes are read, it has more`);
  return bytes.toString('utf8');
}

/** Undefined when it is too long. */
async function readLimited(file: string): Promise<Buffer | undefined> {
  return (await sizeOf(file)) > MAX_BYTES ? undefined : readBounded(file, MAX_BYTES);
}

async function usable<Answer>(path: string, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT')
      throw new UsageError(`${path}: there is no such file${whereNpmLooks(path)}`, { cause: error });
    throw new UsageError(describeSystemError(error)?.replace(/^the file/, path) ?? `${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
