/** What a function carries, and what it makes Node load, decides how fast it starts. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleFunction } from '../../../infra/bundling.ts';
import { ENV } from '../../../shared/contract/env.ts';

/** What Node reads and compiles before the first message. Repair's is the largest: it reads schedules of budgets with croner, 33 KB. */
const MAX_START_BYTES = 1_055_000;
/** All files of code of a function: a third of the largest is the EC2 client, which describes its whole API in one module (ADR 0036). */
const MAX_FUNCTION_BYTES = 1_735_000;
/** What only some messages need: it is loaded when they come. */
const NOT_AT_THE_START = ['@aws-sdk/client-auto-scaling', '@aws-sdk/client-ec2'];
const root = join(import.meta.dirname, '../../..');
const functions = readdirSync(join(root, 'functions')).filter(name =>
  existsSync(join(root, 'functions', name, 'handler.ts')),
);

const folder = mkdtempSync(join(tmpdir(), 'curfew-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bundles = new Map<string, Metafile>();
/** As infra makes it, outside the repository: nothing but what is deployed is found. */
function bundle(name: string): { readonly path: string; readonly metafile: Metafile } {
  const path = join(folder, name);
  const metafile = bundles.get(name) ?? bundleFunction(join(root, 'functions', name, 'handler.ts'), path);
  bundles.set(name, metafile);
  return { path, metafile };
}

type Output = Metafile['outputs'][string];

/** The files that are loaded with `index.mjs`. */
function atStart({ outputs }: Metafile): readonly Output[] {
  const index = Object.keys(outputs).find(path => basename(path) === 'index.mjs') ?? '';
  const loaded = new Set([index]);
  for (const path of loaded) {
    for (const { kind, path: to } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && to in outputs) loaded.add(to);
    }
  }
  return [...loaded].flatMap(path => outputs[path] ?? []);
}

const bytesOf = (files: readonly { readonly bytes: number }[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

function sourcesOf(files: readonly Output[]): readonly string[] {
  const inputs = files.flatMap(file => Object.entries(file.inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
}

/** What a script says in JSON, run in a fresh process with the environment of a function. */
async function run(script: string): Promise<unknown> {
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
const say = (value: string): string => `process.stdout.write(JSON.stringify(${value})); process.exit();`;

describe('the bundle of a function', () => {
  it.each(functions)('%s starts small, with nothing heavy that only some messages use', name => {
    const { path, metafile } = bundle(name);
    const started = atStart(metafile);
    const files = sourcesOf(started);
    const from = (folder: string): string[] => files.filter(file => file.includes(`node_modules/${folder}/`));
    expect(from('@aws-sdk/client-dynamodb')).not.toEqual([]);
    expect(NOT_AT_THE_START.flatMap(from)).toEqual([]);
    expect(bytesOf(started)).toBeLessThan(MAX_START_BYTES);

    const all = sourcesOf(Object.values(metafile.outputs));
    expect(all.filter(file => file.includes('node_modules/@kubernetes/client-node/'))).toEqual([]);
    const asksForEc2 = all.includes('shared/lambda/ec2-instances.ts');
    expect(all.some(file => file.includes('node_modules/@aws-sdk/client-ec2/'))).toBe(asksForEc2);
    const code = readdirSync(path, { recursive: true, withFileTypes: true }).filter(entry => entry.name.endsWith('js'));
    const sizes = code.map(entry => ({ bytes: statSync(join(entry.parentPath, entry.name)).size }));
    expect(bytesOf(sizes)).toBeLessThan(MAX_FUNCTION_BYTES);
    // `import * as z from 'zod'` leaves out the languages of its messages, 390 KB; `import { z }` does not.
    expect(from('zod/v4/locales').filter(file => !file.endsWith('/en.js'))).toEqual([]);
    // The edition with a method for everything on each schema (`shared/contract/zod.ts` has the small one).
    expect(from('zod/v4/classic')).toEqual([]);
  });

  it.each(functions)('%s has all that it loads later', async name => {
    const { path } = bundle(name);
    const script = `
      import { readdirSync } from 'node:fs';
      const path = ${JSON.stringify(path)};
      const files = readdirSync(path).filter(file => file.endsWith('.mjs'));
      for (const file of files) await import(path + '/' + file);
      ${say('files.length > 1')}`;
    expect(await run(script)).toBe(true);
  });
});
