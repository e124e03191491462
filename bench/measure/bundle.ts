/** Bundles a program that is measured, as the forwarder's is bundled for production: both sides pay for code in the same way. */
import { build } from 'esbuild';
import { PROGRAM } from '../../forwarder/bundle.ts';

export async function bundle(entryPoint: string, outfile: string): Promise<void> {
  await build({ ...PROGRAM, entryPoints: [entryPoint], outfile });
}
