/** Each test file has a temp folder of its own, and leaves nothing in it: what it leaves fails it by name. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const outer = tmpdir();
const folder = mkdtempSync(join(outer, 'curfew-'));
// PostgreSQL does not run as root, and the user that it runs as has to pass.
chmodSync(folder, 0o755);
// `tmpdir()` asks for it at each call, and the processes that a test starts inherit it.
process.env['TMPDIR'] = folder;

// The hook that is added first runs last: whatever the file removes at its end is gone by then.
afterAll(() => {
  process.env['TMPDIR'] = outer;
  const left = readdirSync(folder);
  rmSync(folder, { recursive: true });
  if (left.length > 0) throw new Error(`left in the temp folder: ${left.join(', ')}`);
});
