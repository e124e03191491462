import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

describe('infra', () => {
  it('imports the contract only of all our code', async () => {
    const foreign: string[] = [];
    for await (const file of glob('infra/**/*.ts', { cwd: ROOT })) {
      for (const [, target] of readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+)'/g)) {
        const imported = relative(ROOT, resolve(ROOT, dirname(file), target ?? ''));
        if (!/^(infra|shared\/contract)\//.test(imported)) foreign.push(`${file} → ${imported}`);
      }
    }
    expect(foreign).toEqual([]);
  });
});
