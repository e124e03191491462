/** The construct library as an npm package: one bundle with its types, and the code of each function. */
import { build, type Metafile } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import libraryFile from '../packages/curfew-cdk/package.json' with { type: 'json' };
import packageFile from '../package.json' with { type: 'json' };
import { bundleFunction } from '../infra/bundling.ts';
import { FUNCTION_NAMES } from '../shared/contract/names.ts';
import { tarGzOf, type Entry } from './archive.ts';
import { filesOf, ROOT } from './files.ts';
import { noticesOf, packagesIn } from './packages.ts';

const SOURCES = 'packages/curfew-cdk';
/** Of the app that it becomes a part of. */
const PEERS = ['aws-cdk-lib', 'constructs'] as const;

export interface LibraryPackage {
  /** What `npm install` takes. */
  readonly archive: Buffer;
  readonly metafiles: readonly Metafile[];
}

/** The package, with the same bytes each time. */
export async function libraryPackage(): Promise<LibraryPackage> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: `${SOURCES}/src/index.ts` },
    outdir: 'dist/lib',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: PEERS.flatMap(name => [name, `${name}/*`]),
    outExtension: { '.js': '.mjs' },
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  // Beside `cdk.out`: source maps name sources relative to it.
  const folder = mkdtempSync(join(ROOT, 'cdk.out-'));
  try {
    const functions = FUNCTION_NAMES.map(name =>
      bundleFunction(join(ROOT, 'functions', name, 'handler.ts'), join(folder, 'bundles', name)),
    );
    const metafiles = [metafile, ...functions];
    const entries: readonly Entry[] = [
      { path: 'package.json', contents: `${JSON.stringify(MANIFEST, undefined, 2)}\n` },
      { path: 'README.md', contents: readFileSync(join(ROOT, SOURCES, 'README.md')) },
      { path: 'LICENSE', contents: readFileSync(join(ROOT, 'LICENSE')) },
      {
        path: 'THIRD-PARTY-NOTICES.txt',
        contents: noticesOf(new Set(metafiles.flatMap(each => [...packagesIn(each)]))),
      },
      ...outputFiles.map(({ contents }): Entry => ({ path: 'lib/index.mjs', contents })),
      ...declarations(join(folder, 'types')),
      ...filesOf(join(folder, 'bundles'), ['**'], 'lib/functions/'),
    ];
    return { archive: tarGzOf(entries.map(entry => ({ ...entry, path: `package/${entry.path}` }))), metafiles };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that `packages/curfew-cdk/src/index.ts` leads to: what is marked `@internal` is in none of them, and neither is what only that needs. */
function declarations(outDir: string): readonly Entry[] {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', join(ROOT, SOURCES), '--outDir', outDir], { stdio: 'inherit' });
  const read = (file: string): string => readFileSync(join(outDir, SOURCES, 'src', file), 'utf8');
  const reached = new Map<string, string>();
  const follow = (file: string): void => {
    if (reached.has(file)) return;
    const text = read(file);
    reached.set(file, text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    for (const [, path = ''] of text.matchAll(/from '(\.[^']*)\.ts'/g))
      follow(normalize(join(dirname(file), `${path}.d.ts`)));
  };
  follow('index.d.ts');
  return [...reached].map(([file, contents]) => ({ path: `lib/${file}`, contents }));
}

const MANIFEST = {
  name: libraryFile.name,
  version: packageFile.version,
  description: libraryFile.description,
  license: libraryFile.license,
  type: 'module',
  exports: { '.': { types: './lib/index.d.ts', default: './lib/index.mjs' } },
  peerDependencies: Object.fromEntries(PEERS.map(name => [name, `^${packageFile.devDependencies[name]}`])),
  engines: { node: '>=20.11' },
};
