/** How functions become files that start fast. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type BuildOptions } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const BUILT_INS = join(import.meta.dirname, '..', 'built-ins');

/** Options of esbuild. The SDK that was tested is the one that runs: nothing is left out. */
export const BUNDLING = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  // Beside the bundle, not linked from it: reading a map at start-up would cost more than the whole import.
  sourcemap: 'external',
  // Built-in modules whose `import` costs more than their use, and what stands in for them.
  alias: { 'node:http': join(BUILT_INS, 'http.cjs'), 'node:process': join(BUILT_INS, 'process.cjs') },
  // CommonJS dependencies call `require`, which ES modules do not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

/** What the `handler` of a function is called in Lambda. */
export const HANDLER = 'index.handler';

export interface Bundles extends Disposable {
  /** The bundle of one function: a folder with `index.mjs` and its map. */
  of(functionName: string): Code;
}

/** Entry points of esbuild: `<handlersDir>/<function>/handler.ts` becomes `<function>/index.mjs`. */
export function entryPointsOf(handlersDir: string, functionNames: readonly string[]): Record<string, string> {
  return Object.fromEntries(functionNames.map(name => [`${name}/index`, join(handlersDir, name, 'handler.ts')]));
}

/**
 * Bundles all functions in one run of esbuild, which reads a file that several of them import once. The folder goes when it is disposed
 * of; the CDK has copied what it needs by then. It is in `cdkOut`, since maps name sources relative to it: a bundle is the same wherever
 * the repository stands. Throws with what esbuild says when a file cannot be bundled.
 */
export function bundleFunctions(handlersDir: string, functionNames: readonly string[], cdkOut: string): Bundles {
  const outdir = mkdtempSync(join(cdkOut, 'bundles-'));
  const remove = (): void => rmSync(outdir, { recursive: true, force: true });
  try {
    buildSync({ ...BUNDLING, entryPoints: entryPointsOf(handlersDir, functionNames), outdir, logLevel: 'warning' });
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
