/** Reads scenario files, within a limit. */
import { describeSystemError } from './failure.ts';
import { readBounded, readStream, sizeOf } from './read-bounded.ts';
import { UsageError } from './usage-error.ts';

/** Reading YAML takes some 80 times its size of memory; this is a snapshot of a cluster with some 18,000 pods. */
export const MAX_SCENARIO_BYTES = 16_000_000;

/** Standard input, where a file is asked for. */
const STANDARD_INPUT = '-';

/** The text of a file, or of standard input for `-`. Throws `UsageError` for one that is missing, not text, or larger than `MAX_SCENARIO_BYTES`. */
export async function readScenarioFile(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    const size = file === STANDARD_INPUT ? 0 : await sizeOf(file);
    const read = size > MAX_SCENARIO_BYTES ? undefined : await readAll(file);
    if (read === undefined) throw tooLarge(file, size);
    bytes = read;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = describeSystemError(error)?.replace(/^the file/, file);
    if (reason === undefined) throw error;
    throw new UsageError(reason, { cause: error });
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  throw new UsageError(`${file} is not a text file in UTF-8`);
}

const readAll = (file: string): Promise<Buffer | undefined> =>
  file === STANDARD_INPUT ? readStream(process.stdin, MAX_SCENARIO_BYTES) : readBounded(file, MAX_SCENARIO_BYTES);

function tooLarge(file: string, bytes: number): UsageError {
  const megabytes = (count: number): string => (count / 1_000_000).toFixed(1);
  const size = bytes > MAX_SCENARIO_BYTES ? `has ${megabytes(bytes)} MB` : 'does not end';
  return new UsageError(`${file} ${size}; a scenario file may have at most ${megabytes(MAX_SCENARIO_BYTES)} MB`);
}
