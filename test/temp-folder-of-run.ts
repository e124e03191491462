/** One temp folder for a run of the tests, which goes with it, whatever became of its workers; in it each file has its own (`own-temp-folder.ts`). */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns what vitest calls at the end */
export default function setup(): () => void {
  const outer = tmpdir();
  const folder = mkdtempSync(join(outer, 'curfew-'));
  // PostgreSQL does not run as root, and the user that it runs as has to pass.
  chmodSync(folder, 0o755);
  // Workers inherit it.
  process.env['TMPDIR'] = folder;
  return () => {
    process.env['TMPDIR'] = outer;
    rmSync(folder, { recursive: true, force: true });
  };
}
