/** The CDK app, synthesized into a folder: the same templates and bundles that are deployed. */
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startChild } from '../../packages/local-aws/src/child-processes.ts';

const APP = join(import.meta.dirname, '..', '..', 'infra', 'app.ts');

/** Runs `node infra/app.ts` into `outdir`. Throws an Error with its output when it fails. */
export async function synthesize(outdir: string): Promise<void> {
  const child = startChild(process.execPath, [APP], {
    // Whatever a deployment of this copy chooses, the cluster here is the local one.
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify({ curfew: {} }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [output] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  if (child.exitCode !== 0) throw new Error(`the CDK app cannot be synthesized:\n${output.trim()}`);
}
