/** The table of records in ARCHITECTURE.md names the file of each codec, and no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sources } from '../architecture/sources.ts';
import { ROOT } from './documents.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

it('each codec of a record has a row', () => {
  const [, table = ''] = read('ARCHITECTURE.md').split('| record of | id | writer | codec |');
  const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/`([\w/-]+\.ts)` \|$/gm)].map(([, file = '']) => file);
  // Of a type with a name: the kernel's own functions take any.
  const codecs = sources.filter(
    file => /^(functions|shared)\//.test(file) && /: RecordCodec<(?!Value>)\w+>/.test(read(file)),
  );
  expect(codecs.length).toBeGreaterThan(10);
  expect([...new Set(rows)].toSorted()).toEqual(codecs.toSorted());
});
