/**
 * `npm run release`: writes what a release has into `dist/`. With `--check` it is made a second time, of a copy of the sources in another
 * folder, and must be the same.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from './files.ts';
import { revisionOf, type Revision } from './provenance.ts';
import { releaseFiles } from './release.ts';

const DIST = 'dist';
/** What the copy, which is no checkout, is a copy of. */
const REVISION = 'CURFEW_RELEASE_REVISION';
const revisionSchema = z.object({ commit: z.string(), isDirty: z.boolean() });

async function write(revision: Revision): Promise<readonly string[]> {
  const folder = join(ROOT, DIST);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = await releaseFiles(revision);
  for (const { path, contents } of files) writeFileSync(join(folder, path), contents);
  return files.map(({ path }) => path);
}

/** Throws when the copy has other bytes. */
function check(revision: Revision): void {
  const copy = mkdtempSync(join(tmpdir(), 'curfew-release-'));
  try {
    const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    for (const file of listed.split('\0').filter(each => each !== '')) {
      mkdirSync(dirname(join(copy, 'curfew', file)), { recursive: true });
      cpSync(join(ROOT, file), join(copy, 'curfew', file), { force: true });
    }
    cpSync(join(ROOT, 'node_modules'), join(copy, 'curfew', 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    execFileSync(process.execPath, ['release/main.ts'], {
      cwd: join(copy, 'curfew'),
      env: { ...process.env, [REVISION]: JSON.stringify(revision) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const sums = (root: string): string => readFileSync(join(root, DIST, 'SHA256SUMS'), 'utf8');
    const [here, there] = [sums(ROOT), sums(join(copy, 'curfew'))];
    if (here !== there) throw new Error(`a copy of the sources makes other bytes:\n${here}\n${there}`);
    process.stdout.write('a copy of the sources in another folder makes the same bytes\n');
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const given = process.env[REVISION];
const revision = given === undefined ? revisionOf() : revisionSchema.parse(JSON.parse(given));
for (const path of await write(revision)) process.stdout.write(`${join(DIST, path)}\n`);
if (process.argv.includes('--check')) check(revision);
