/** Bundles the forwarder into one file: `node forwarder/bundle.ts OUTPUT_DIRECTORY`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type BuildOptions, type Metafile } from 'esbuild';

export interface ForwarderBundle {
  /** `main.mjs` and its map. */
  readonly files: readonly { readonly name: string; readonly contents: Uint8Array }[];
  readonly metafile: Metafile;
}

/** Options of esbuild for a program that Node runs by itself. */
export const PROGRAM = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  keepNames: true,
  legalComments: 'none',
  logLevel: 'warning',
  // Dependencies in CommonJS ask for Node's modules through `require`, which ES modules do not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} satisfies BuildOptions;

/** Bundles the forwarder. The bytes are the same wherever they are written to. */
export async function bundleForwarder(): Promise<ForwarderBundle> {
  const root = join(import.meta.dirname, '..');
  const { outputFiles, metafile } = await build({
    ...PROGRAM,
    absWorkingDir: root,
    entryPoints: ['forwarder/main.ts'],
    outfile: 'dist/main.mjs',
    write: false,
    metafile: true,
    sourcemap: 'linked',
  });
  return { files: outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })), metafile };
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('the output directory must be given');
  const { files } = await bundleForwarder();
  mkdirSync(directory, { recursive: true });
  for (const { name, contents } of files) writeFileSync(join(directory, name), contents);
}
