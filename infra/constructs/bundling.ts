/** How functions become files that start fast. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync, type BuildOptions, type Metafile } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const STAND_INS = join(import.meta.dirname, '..', 'stand-ins');
const standIn = (file: string): string => join(STAND_INS, file);

const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  // Beside the bundle, not linked from it: reading a map at start-up would cost more than the whole import.
  sourcemap: 'external',
  metafile: true,
  // Modules whose `import` costs more than their use, and what stands in for them.
  alias: {
    '@aws-sdk/credential-provider-node': standIn('credential-provider-node.mjs'),
    'node:console': standIn('console.cjs'),
    'node:http': standIn('http.cjs'),
    'node:process': standIn('process.cjs'),
    'node:util': standIn('util.mjs'),
    process: standIn('process.cjs'),
  },
} as const satisfies BuildOptions;

/** Options of esbuild. The SDK that was tested is the one that runs; all that is left out is in `stand-ins`. */
export const BUNDLING = {
  ...COMMON,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  // What is imported by `import()` is a file of its own, which the start does not read.
  splitting: true,
  // CommonJS dependencies call `require`, which ES modules do not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
} as const satisfies BuildOptions;

/** What the `handler` of a function is called in Lambda. */
export const HANDLER = 'index.handler';

/** Packages that code without a promise loads by their first use: each by the file of its name in `shared/packages`. */
const PACKAGES: Readonly<Record<string, string>> = {
  gotemplate: '@curfew/gotemplate',
  re2js: 're2js',
  yaml: 'yaml',
};

export interface Bundles extends Disposable {
  /** The bundle of one function: a folder with `index.mjs`, what it loads later, and the map of each file. */
  of(functionName: string): Code;
}

/**
 * Bundles one function into `outdir`: `index.mjs`, the files that it imports by `import()`, and in `node_modules` one file for each
 * package that is loaded by its first use. Throws with what esbuild says when a file cannot be bundled.
 *
 * @returns esbuild's account of the bundle, without those packages
 */
export function bundleFunction(handler: string, outdir: string): Metafile {
  const absWorkingDir = join(import.meta.dirname, '..', '..');
  const options = { absWorkingDir, logLevel: 'warning' } as const;
  const { metafile } = buildSync({ ...BUNDLING, ...options, entryPoints: { index: handler }, outdir });
  const packages = usedFiles(metafile).flatMap(file => /^shared\/packages\/(.+)\.ts$/.exec(file)?.[1] ?? []);
  for (const name of packages) {
    const entry = PACKAGES[name];
    if (entry === undefined) throw new Error(`shared/packages/${name}.ts loads a package that bundling does not know`);
    const outfile = join(outdir, 'node_modules', entry, 'index.js');
    buildSync({ ...COMMON, ...options, format: 'cjs', entryPoints: [entry], outfile });
  }
  return metafile;
}

/** The files of which something came into the bundle. */
function usedFiles({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap(output => Object.entries(output.inputs));
  return [...new Set(inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file))];
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
