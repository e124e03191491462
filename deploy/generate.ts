/** `npm run generate`: writes the manifests that are made of code, and the chart's copies of manifests. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHART_FILES, chartFiles } from './chart-files.ts';
import { packageVersion, versionFiles } from './version-files.ts';
import { rbacFiles, type ManifestFile } from './manifests.ts';

const ROOT = join(import.meta.dirname, '..');

function write({ path, text }: ManifestFile): void {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
  process.stdout.write(`${path}\n`);
}

versionFiles(packageVersion()).forEach(write);
rbacFiles().forEach(write);
rmSync(join(ROOT, CHART_FILES), { recursive: true, force: true });
chartFiles().forEach(write);
