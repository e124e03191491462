/** A checkout on which `npm ci` has not run, or left packages out. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFailure } from '../../cli/failure.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  for (const part of ['cli', 'shared', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('without the packages', () => {
  it('the command line says what to run', () => {
    const stderr = `the package commander is not installed: run \`npm ci --include=dev --include=optional\` in ${folder}\n`;
    expect(run('cli/bin.js', '--help')).toEqual({ status: 2, stdout: '', stderr });
  });

  it('so do the scripts', () => {
    const stderr = `The packages for development are not installed: run "npm ci --include=dev --include=optional" in ${folder}.\n`;
    expect(run('cli/assert-node.js')).toEqual({ status: 2, stdout: '', stderr });
  });

  // An older Node reads no TypeScript: it must get as far as the sentence about Node.
  it('what says so is JavaScript', () => {
    expect(run('--no-strip-types', 'cli/assert-node.js').stderr).toMatch(/^The packages for development/);
    mkdirSync(join(folder, 'node_modules', 'vitest'), { recursive: true });
    cpSync(
      join(ROOT, 'node_modules', 'vitest', 'package.json'),
      join(folder, 'node_modules', 'vitest', 'package.json'),
    );
    expect(run('--no-strip-types', 'cli/assert-node.js')).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

describe('one package that is not there', () => {
  const named = (name: string) => ({ exitCode: 2, message: expect.stringContaining(`the package ${name} is not `) });

  it.each(['no-such-package', '@no/such-package', '@no/such-package/file.js'])('is named: %s', async specifier => {
    const error: unknown = await import(specifier).catch((reason: unknown) => reason);
    expect(describeFailure(error)).toEqual(named(specifier.replace('/file.js', '')));
  });

  it.each([
    'The package "@esbuild/linux-x64" could not be found, and is needed by esbuild.',
    'The "@esbuild/darwin-arm64" package is present but this platform\nneeds the "@esbuild/linux-x64" package instead.',
  ])("is named in esbuild's words", words => {
    expect(describeFailure(new Error(words))).toEqual(named('@esbuild/linux-x64'));
  });

  it('is no file of ours that is missing', async () => {
    const error: unknown = await import(join(folder, 'no-such-file.ts')).catch((reason: unknown) => reason);
    expect(describeFailure(error)).toMatchObject({ exitCode: 1 });
  });
});
