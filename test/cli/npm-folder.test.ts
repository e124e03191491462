/** `npm run` in a folder of the checkout: npm runs its scripts in the folder of package.json. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { runHere } from './run-curfew.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  writeFileSync(join(folder, 'mine.yaml'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

it.each(['simulate', 'validate'])(
  '%s says where it has looked for a file of the folder that npm was called in',
  async command => {
    vi.stubEnv('npm_lifecycle_event', 'curfew');
    vi.stubEnv('INIT_CWD', folder);
    const { code, stderr } = await runHere([command, 'mine.yaml']);
    expect(stderr).toContain(
      ` in ${process.cwd()}, where npm runs its scripts: give ${join(folder, 'mine.yaml')}, or use npx curfew\n`,
    );
    expect(code).toBe(2);
  },
);

it.each([
  ['one that is not there either', 'other.yaml', 'curfew'],
  ['an absolute path', '/nowhere/mine.yaml', 'curfew'],
  ['a command that npm does not run', 'mine.yaml', undefined],
])('says nothing of it for %s', async (_, path, event) => {
  vi.stubEnv('npm_lifecycle_event', event);
  vi.stubEnv('INIT_CWD', folder);
  expect((await runHere(['simulate', path])).stderr).toBe(`${path} does not exist\n`);
});
