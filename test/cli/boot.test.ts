import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCurfew } from './run-curfew.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'curfew-test-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('says its steps when piped, ends at the first Ctrl-C in the boot, and leaves nothing behind', async () => {
  const { code, stdout } = await runCurfew(['start'], printed => printed.includes('synthesizing the CDK app'), {
    TMPDIR: folder,
  });
  expect(code).toBe(130);
  expect(stdout).toContain('synthesizing the CDK app, starting the API server …\n');
  expect(readdirSync(folder).filter(name => name.startsWith('curfew'))).toEqual([]);
});
