/**
 * The limit of open files, before anything is started: with too few, esbuild and the functions' runtimes wait without a word for files that they cannot
 * open, each in another place.
 */
import { readFileSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** The default of macOS, with which the local stack works. */
const NEEDED_OPEN_FILES = 256;

/** The soft limit; undefined where the system does not say, or has none. */
export function readOpenFilesLimit(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * Throws `UsageError` with what to do.
 * @param limits the text of `/proc/self/limits`
 */
export function checkOpenFiles(limits: string = ownLimits()): void {
  const limit = readOpenFilesLimit(limits);
  if (limit === undefined || limit >= NEEDED_OPEN_FILES) return;
  throw new UsageError(
    `the limit of open files is ${limit}, and the local stack needs ${NEEDED_OPEN_FILES}: raise it with \`ulimit -n 1024\` and start again`,
  );
}

/** Linux has it; elsewhere nothing is checked. */
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
