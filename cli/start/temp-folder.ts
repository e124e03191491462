/** The folder of one run. Each run removes its own, and those of runs that died before they could. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { describeSystemError } from '../failure.ts';
import { UsageError } from '../usage-error.ts';

/** `curfew-run-PID-RANDOM`. */
const NAME = /^curfew-run-(\d+)-/;

export interface TempFolder {
  readonly path: string;
  readonly remove: () => void;
}

/**
 * Makes the folder; it goes at `remove`, or when the process exits. Throws `UsageError` when there is nowhere to make it.
 * @param parent default: the system's folder for temporary files
 */
export function createTempFolder(parent: string = tmpdir()): TempFolder {
  removeLeftovers(parent);
  let path: string;
  try {
    path = mkdtempSync(join(parent, `curfew-run-${process.pid}-`));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = missing
      ? `the folder for temporary files ${parent} does not exist: create it, or set TMPDIR`
      : `there is no folder for temporary files: ${describeSystemError(error) ?? messageOf(error)}; set TMPDIR to one that can be written to`;
    throw new UsageError(reason, { cause: error });
  }
  const remove = (): void => {
    process.off('exit', remove);
    removeFolder(path);
  };
  process.on('exit', remove);
  return { path, remove };
}

function removeLeftovers(parent: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(parent);
  } catch {
    return;
  }
  for (const name of names) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeFolder(join(parent, name));
  }
}

/** A folder that another user owns, or that a child still writes to, waits for the next run. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The next run tries again.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
