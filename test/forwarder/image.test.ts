/** The image has what the bundle is made of: what the Dockerfile copies is enough, and the build context has it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const [, buildStage = ''] = read('forwarder/Dockerfile').split(/^FROM .*$/m);
const steps = buildStage.split('\n').filter(line => /^(COPY|RUN) /.test(line));
/** What a COPY takes, without where it goes. */
const copied = steps.filter(step => step.startsWith('COPY ')).flatMap(step => step.split(/\s+/).slice(1, -1));
const isCopied = (file: string): boolean =>
  copied.some(source => file === source || (source.endsWith('/') && file.startsWith(source)));

describe('the image of the forwarder', () => {
  it('is built in these steps', () => {
    expect(steps.filter(step => step.startsWith('RUN '))).toEqual(['RUN npm ci', 'RUN node forwarder/bundle.ts dist']);
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) expect(copied).toContain(file);
  });

  it('has every source file of the bundle and of its script, and every package that they import', async () => {
    const { metafile } = await build({
      entryPoints: ['forwarder/main.ts', 'forwarder/bundle.ts'],
      absWorkingDir: ROOT,
      outdir: join(ROOT, 'dist'),
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
      mainFields: ['module', 'main'],
      external: ['esbuild'],
      logLevel: 'error',
    });
    const inputs = Object.keys(metafile.inputs);
    const own = inputs.filter(file => !file.startsWith('node_modules/'));
    expect(own.length).toBeGreaterThan(40);
    expect(own.filter(file => !isCopied(file))).toEqual([]);

    // A link into packages/ would lead nowhere.
    const lock: { packages: Record<string, { link?: boolean }> } = JSON.parse(read('package-lock.json'));
    const folders = inputs.flatMap(file => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
    const missing = [...new Set(folders), 'node_modules/esbuild'].filter(
      folder => lock.packages[folder] === undefined || lock.packages[folder].link === true,
    );
    expect(missing).toEqual([]);
  });

  it('has a build context with what it copies, and nothing else', () => {
    const ignored = read('forwarder/Dockerfile.dockerignore')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'));
    expect(ignored[0]).toBe('*');
    expect(ignored.slice(1).toSorted()).toEqual(copied.map(source => `!${source.replace(/\/$/, '')}`).toSorted());
  });
});
