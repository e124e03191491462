/** How a function becomes one file that starts fast. */
import { LogLevel, OutputFormat, SourceMapMode, type BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';
import { join } from 'node:path';

const BUILT_INS = join(import.meta.dirname, '..', 'built-ins');

/** Built-in modules whose `import` costs more than their use: module name → file that stands in for it. */
export const BUILT_IN_ALIASES: Readonly<Record<string, string>> = {
  'node:http': join(BUILT_INS, 'http.cjs'),
  'node:process': join(BUILT_INS, 'process.cjs'),
};

export const BUNDLING: BundlingOptions = {
  logLevel: LogLevel.WARNING,
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  // Beside the bundle, not linked from it: reading a map at start-up would cost more than the whole import.
  sourceMap: true,
  sourceMapMode: SourceMapMode.EXTERNAL,
  // The SDK that was tested is the one that runs.
  externalModules: [],
  esbuildArgs: Object.fromEntries(Object.entries(BUILT_IN_ALIASES).map(([name, file]) => [`--alias:${name}`, file])),
  // CommonJS dependencies call `require`, which ES modules do not have.
  banner: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};
