/** Part of `npm run generate`: writes the JSON Schemas for editors, and the reference of fields. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { schemaFiles } from './editor-schemas.ts';
import { fieldReference } from './field-reference.ts';

for (const { path, text } of [...schemaFiles(), fieldReference()]) {
  const file = join(import.meta.dirname, '..', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
