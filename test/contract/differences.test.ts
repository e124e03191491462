/** The known differences are where they belong: asserted by the contract, and documented with the embedded server. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DIFFERENCES } from './differences.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const contract = globSync('api-server/*.ts', { cwd: import.meta.dirname })
  .map(file => read(file))
  .join('\n');
const documentation = read('../../docs/internals/embedded-api-server.md');

describe('differences', () => {
  it.each(DIFFERENCES)('$id is asserted and documented', ({ id, what }) => {
    expect(contract).toContain(`'${id}'`);
    expect(documentation).toContain(`| \`${id}\` | ${what} |`);
  });

  it('are each known by one id', () => {
    const ids = DIFFERENCES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
