/** Each test file has a temp folder of its own, and leaves nothing in it: what it leaves fails it by name. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

/** Set while a file has its own. Of a file without a test to run, as one that a name filters out, no hook runs, and it stays set. */
const OWN = 'CURFEW_TEST_FOLDER';
const before = process.env[OWN];
const outer = before === undefined ? tmpdir() : dirname(before);
const folder = mkdtempSync(join(outer, 'f-'));
// PostgreSQL does not run as root, and the user that it runs as has to pass.
chmodSync(folder, 0o755);
process.env[OWN] = folder;
// `tmpdir()` asks for it at each call, and the processes that a test starts inherit it.
process.env['TMPDIR'] = folder;

// The hook that is added first runs last: whatever the file removes at its end is gone by then.
afterAll(() => {
  delete process.env[OWN];
  process.env['TMPDIR'] = outer;
  const left = readdirSync(folder);
  rmSync(folder, { recursive: true });
  if (left.length > 0) throw new Error(`left in the temp folder: ${left.join(', ')}`);
});
