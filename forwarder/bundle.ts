/** Bundles the forwarder into one file: `node forwarder/bundle.ts OUTPUT_DIRECTORY`. */
import { join } from 'node:path';
import { build } from 'esbuild';

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('the output directory must be given');

await build({
  entryPoints: [join(import.meta.dirname, 'main.ts')],
  outfile: join(directory, 'main.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  keepNames: true,
  sourcemap: 'linked',
  legalComments: 'none',
  logLevel: 'warning',
  // Dependencies in CommonJS ask for Node's modules through `require`, which ES modules do not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
});
