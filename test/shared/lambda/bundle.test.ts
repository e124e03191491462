/** What a function carries, and what it makes Node load, decides how fast it starts. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { BUNDLING, entryPointsOf } from '../../../infra/constructs/bundling.ts';
import { ENV } from '../../../shared/contract/env.ts';

const MAX_BUNDLE_BYTES = 1_000_000;
/**
 * The EC2 client describes its whole API in one module of 554 KB, and any command of it brings that along (ADR 0005). The
 * functions that use it also render templates: Go's template language and YAML are 190 KB, and RE2 is 150 KB in repair.
 */
const MAX_WITH_EC2_BYTES = 1_600_000;
const root = join(import.meta.dirname, '../../..');
const functions = readdirSync(join(root, 'functions')).filter(name =>
  existsSync(join(root, 'functions', name, 'handler.ts')),
);

const folder = mkdtempSync(join(tmpdir(), 'curfew-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Bundle {
  readonly path: string;
  readonly bytes: number;
  readonly files: readonly string[];
}

let bundles: Promise<ReadonlyMap<string, Bundle>> | undefined;
/** A handler's bundle; all of them are made once. */
async function bundle(name: string): Promise<Bundle> {
  bundles ??= makeBundles();
  const made = (await bundles).get(name);
  if (made === undefined) throw new Error(`${name} was not bundled`);
  return made;
}

/** As infra makes them: where each is, its size, and the files that contribute to it. */
async function makeBundles(): Promise<ReadonlyMap<string, Bundle>> {
  const entryPoints = entryPointsOf(join(root, 'functions'), functions);
  const { metafile } = await build({
    ...BUNDLING,
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    metafile: true,
    logLevel: 'silent',
  });
  return new Map(
    Object.entries(metafile.outputs).flatMap(([output, { bytes, inputs }]) => {
      const name = functions.find(each => output.endsWith(`/${each}/index.mjs`));
      if (name === undefined) return [];
      const files = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
      return [[name, { path: join(folder, name, 'index.mjs'), bytes, files: files.map(([file]) => file) }]];
    }),
  );
}

/** The modules of Node's own that are loaded once a bundle is. */
async function loadedWith(path: string): Promise<readonly string[]> {
  const script = `await import(${JSON.stringify(path)}); process.stdout.write(JSON.stringify(process.moduleLoadList)); process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      [ENV.clusterName]: 'prod',
      [ENV.clusterEndpoint]: 'https://127.0.0.1',
      [ENV.tableName]: 'curfew',
      [ENV.eventBusName]: 'curfew',
      [ENV.inboxUrl]: 'http://127.0.0.1/inbox',
      [ENV.inboxUrls]: '{}',
      [ENV.deadLetterQueueUrl]: 'http://127.0.0.1/dlq',
      AWS_REGION: 'us-west-2',
    },
    maxBuffer: 2 ** 20,
  });
  return JSON.parse(stdout);
}

describe('the bundle of a function', () => {
  it.each(functions)('%s is small and carries nothing heavy that it does not use', async name => {
    const { bytes, files } = await bundle(name);
    const from = (folder: string): string[] => files.filter(file => file.includes(`node_modules/${folder}/`));
    expect(from('@aws-sdk/client-dynamodb')).not.toEqual([]);
    expect(from('@kubernetes/client-node')).toEqual([]);
    // `import * as z from 'zod'` leaves out the languages of its messages, 390 KB; `import { z }` does not.
    expect(from('zod/v4/locales').filter(file => !file.endsWith('/en.js'))).toEqual([]);
    const asksForEc2 = readFileSync(join(root, 'functions', name, 'handler.ts'), 'utf8').includes('ec2-instances');
    expect(from('@aws-sdk/client-ec2').length > 0).toBe(asksForEc2);
    expect(bytes).toBeLessThan(asksForEc2 ? MAX_WITH_EC2_BYTES : MAX_BUNDLE_BYTES);
    // The edition with a method for everything on each schema (`shared/contract/zod.ts` has the small one).
    expect(from('zod/v4/classic')).toEqual([]);
  });

  it.each(functions)('%s makes Node load no HTTP client that it does not use', async name => {
    const { path } = await bundle(name);
    const modules = await loadedWith(path);
    expect(modules).toContain('NativeModule http');
    expect(modules.filter(module => module.includes('undici') || module.includes('http2'))).toEqual([]);
  });
});
