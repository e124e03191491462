import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDataFolder } from '../../../bench/measure/data-folder.ts';

let inMemory: string;
beforeEach(() => void (inMemory = mkdtempSync(join(tmpdir(), 'curfew-test-'))));
afterEach(() => rmSync(inMemory, { recursive: true, force: true }));

it('is in memory where there is room, and goes at the end', () => {
  const { path, medium, remove } = createDataFolder(inMemory);
  expect([dirname(path), medium]).toEqual([inMemory, 'memory']);
  remove();
  expect(existsSync(path)).toBe(false);
});

it('is on the disk where the system keeps no files in memory, or has no room for them', () => {
  for (const folder of [join(inMemory, 'none'), '/proc']) {
    const { path, medium, remove } = createDataFolder(folder);
    expect([dirname(path), medium]).toEqual([tmpdir(), 'disk']);
    remove();
  }
});
