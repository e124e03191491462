/** How functions become files that start fast. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type BuildOptions, type Metafile } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Options of esbuild. The SDK that was tested is the one that runs. */
export const BUNDLING = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  // Beside the bundle, not linked from it: reading a map at start-up would cost more than the whole import.
  sourcemap: 'external',
  // The notices of licences are beside it, too: Node would read them at each start.
  legalComments: 'external',
  metafile: true,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // What is imported by `import()` is a file of its own, which the start does not read.
  splitting: true,
  // The AWS SDK has code for browsers that imports it. Nothing calls that code, and splitting would write the file all the same.
  external: ['bowser'],
  // CommonJS dependencies call `require`, which ES modules do not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

export interface Bundles extends Disposable {
  /** The bundle of one function: a folder with `index.mjs`, what it loads later, and the map of each file. */
  of(functionName: string): Code;
}

/**
 * Bundles one function into `outdir`: `index.mjs`, the files that it imports by `import()`, and the maps. Throws with what esbuild says
 * when a file cannot be bundled.
 *
 * @returns esbuild's account of the bundle
 */
export function bundleFunction(handler: string, outdir: string): Metafile {
  const absWorkingDir = join(import.meta.dirname, '..');
  const { metafile } = buildSync({
    ...BUNDLING,
    absWorkingDir,
    logLevel: 'warning',
    entryPoints: { index: handler },
    outdir,
  });
  return metafile;
}

/**
 * Bundles all functions: `<handlersDir>/<function>/handler.ts` each. The folder goes when it is disposed of; the CDK has copied what it
 * needs by then. It is in `cdkOut`, since maps name sources relative to it: a bundle is the same wherever the repository stands. Throws
 * with what esbuild says when a file cannot be bundled.
 */
export function bundleFunctions(handlersDir: string, functionNames: readonly string[], cdkOut: string): Bundles {
  const outdir = mkdtempSync(join(cdkOut, 'bundles-'));
  const remove = (): void => rmSync(outdir, { recursive: true, force: true });
  try {
    for (const name of functionNames) bundleFunction(join(handlersDir, name, 'handler.ts'), join(outdir, name));
  } catch (error) {
    remove();
    throw error;
  }
  return { of: name => Code.fromAsset(join(outdir, name)), [Symbol.dispose]: remove };
}

/** The source of each function as it is, for a template that nobody deploys. */
export function withoutBundles(handlersDir: string): Bundles {
  return { of: name => Code.fromAsset(join(handlersDir, name)), [Symbol.dispose]: () => undefined };
}
