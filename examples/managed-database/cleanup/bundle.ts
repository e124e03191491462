/** Bundles the clean-up for Lambda into one file, `index.mjs`: `node examples/managed-database/cleanup/bundle.ts OUTPUT_DIRECTORY`. */
import { join } from 'node:path';
import { build } from 'esbuild';

/** Its handler is `index.handler`. */
export async function bundleCleanup(directory: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, 'handler.ts')],
    outfile: join(directory, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Bindings to a library that is not installed, and a socket of another platform: the driver asks for them only when told to.
    external: ['pg-native', 'pg-cloudflare', 'cloudflare:sockets'],
    logLevel: 'warning',
    // The driver is CommonJS and asks for Node's modules through `require`, which ES modules do not have.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  });
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('the output directory must be given');
  await bundleCleanup(directory);
}
