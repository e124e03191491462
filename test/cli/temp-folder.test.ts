import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTempFolder } from '../../cli/start/temp-folder.ts';

let parent: string;
beforeEach(() => void (parent = mkdtempSync(join(tmpdir(), 'curfew-test-'))));
afterEach(() => rmSync(parent, { recursive: true, force: true }));

it('removes its own folder, and those of runs that died, and no other', () => {
  const { pid: dead } = spawnSync(process.execPath, ['-e', '']);
  const leftover = join(parent, `curfew-run-${dead}-abc`);
  const foreign = join(parent, 'curfew-notes');
  const alive = join(parent, `curfew-run-${process.ppid}-abc`);
  for (const path of [leftover, foreign, alive]) mkdirSync(path);
  writeFileSync(join(leftover, 'data'), 'x');
  const { path, remove } = createTempFolder(parent);
  expect([leftover, foreign, alive, path].map(each => existsSync(each))).toEqual([false, true, true, true]);
  remove();
  expect(existsSync(path)).toBe(false);
});

it('says what to do when there is nowhere to make it', () => {
  writeFileSync(join(parent, 'file'), '');
  expect(() => createTempFolder(join(parent, 'file'))).toThrow(
    /a part of the path is a file, not a folder; set TMPDIR to one that can be written to$/,
  );
});
