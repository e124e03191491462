/** The cookbook: each file is valid, says whom it is for and in which mode, and has its part of the guide. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../docs/observability.ts';
import { ROOT } from '../docs/documents.ts';
import { runHere } from '../cli/run-curfew.ts';

const FOLDER = join(ROOT, 'examples/policies');
const files = readdirSync(FOLDER).filter(file => file.endsWith('.yaml'));

describe('examples/policies', () => {
  it('are found', () => expect(files.length).toBeGreaterThan(6));

  it('are valid together', async () => {
    const { code, stdout, stderr } = await runHere(['validate', FOLDER]);
    expect({ code, said: stdout + stderr }).toMatchObject({ code: 0 });
    expect(stdout.match(/ is valid/g)).toHaveLength(files.length);
  });

  it.each(files)('%s is in the cookbook', file => {
    expect(documentOf('docs/guides/cookbook.md').text).toContain(`(../../examples/policies/${file})`);
    expect(readFileSync(join(FOLDER, file), 'utf8')).toMatch(/^# \S/);
  });
});
