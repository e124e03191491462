/** What a function carries decides how fast it starts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const MAX_BUNDLE_BYTES = 1_000_000;
const root = join(import.meta.dirname, '../../..');
const functions = readdirSync(join(root, 'functions')).filter(name =>
  existsSync(join(root, 'functions', name, 'handler.ts')),
);

/** What a handler's bundle, made as infra makes it, consists of: its size, and the files that contribute to it. */
async function bundle(name: string): Promise<{ bytes: number; files: readonly string[] }> {
  const { metafile } = await build({
    entryPoints: [join(root, 'functions', name, 'handler.ts')],
    absWorkingDir: root,
    outfile: 'index.mjs',
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
  });
  const output = metafile.outputs['index.mjs'];
  if (output === undefined) throw new Error('nothing was bundled');
  const files = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { bytes: output.bytes, files: files.map(([file]) => file) };
}

describe('the bundle of a function', () => {
  it.each(functions)('%s is small and carries nothing heavy that it does not use', async name => {
    const { bytes, files } = await bundle(name);
    const from = (folder: string): string[] => files.filter(file => file.includes(`node_modules/${folder}/`));
    expect(bytes).toBeLessThan(MAX_BUNDLE_BYTES);
    expect(from('@aws-sdk/client-dynamodb')).not.toEqual([]);
    expect(from('@kubernetes/client-node')).toEqual([]);
    // `import * as z from 'zod'` leaves out the languages of its messages, 390 KB; `import { z }` does not.
    expect(from('zod/v4/locales').filter(file => !file.endsWith('/en.js'))).toEqual([]);
    const asksForEc2 = readFileSync(join(root, 'functions', name, 'handler.ts'), 'utf8').includes('ec2-instances');
    expect(from('@aws-sdk/client-ec2').length > 0).toBe(asksForEc2);
  });
});
