/** `npm run generate`: writes the manifests and JSON Schemas that are made of code. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rbacFiles } from './manifests.ts';
import { schemaFiles } from './schemas.ts';

for (const { path, text } of [...rbacFiles(), ...schemaFiles()]) {
  mkdirSync(dirname(join(import.meta.dirname, '..', path)), { recursive: true });
  writeFileSync(join(import.meta.dirname, '..', path), text);
  process.stdout.write(`${path}\n`);
}
