/** `npm run generate`: writes the manifests that are made of code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rbacFiles } from './manifests.ts';

for (const { path, text } of rbacFiles()) {
  writeFileSync(join(import.meta.dirname, '..', path), text);
  process.stdout.write(`${path}\n`);
}
