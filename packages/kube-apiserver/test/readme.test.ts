/** The example of the README does what it says, by the package's own name. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as offered from '../src/index.ts';

const folder = join(import.meta.dirname, '..');

test('the example runs', async () => {
  const [, example = ''] = /```ts\n([^]*?)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval', example];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  expect(stdout).toContain('unschedulable: true');
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(16);
});

test('what the README names is exported', () => {
  expect(Object.keys(offered)).toEqual(
    expect.arrayContaining(['createApiServer', 'serveApiServer', 'createRbacAuthorizer', 'ApiStatusError']),
  );
});
