/** The CDK app, synthesized into a folder: the same templates and bundles that are deployed. */
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startChild } from '../../packages/local-aws/src/child-processes.ts';
import { describeMissingPackage } from '../missing-package.ts';
import { UsageError } from '../usage-error.ts';

/** Many times what it takes; a bundler that waits for a file that it cannot open waits without end. */
const LIMIT_MS = 300_000;
const ROOT = join(import.meta.dirname, '..', '..');
const APP = join(ROOT, 'infra', 'app.ts');

export interface SynthesizeOptions {
  /** For what it leaves behind. */
  readonly tempDir?: string;
  /** Names of hook functions, from the configuration. */
  readonly hookFunctions?: readonly string[];
}

/** Runs `node infra/app.ts` into `outdir`. Throws an Error with its output when it fails. */
export async function synthesize(
  outdir: string,
  { tempDir = tmpdir(), hookFunctions = [] }: SynthesizeOptions = {},
): Promise<void> {
  const child = startChild(process.execPath, [APP], {
    // The CDK looks for the lockfile from here, wherever the command was called.
    cwd: ROOT,
    // Whatever a deployment of this copy chooses, the cluster here is the local one.
    env: {
      ...process.env,
      TMPDIR: tempDir,
      CDK_OUTDIR: outdir,
      // Templates are checked where they are deployed from; here it would take a third of the time.
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({ curfew: { hookFunctions } }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  // Where it could not be started, as with too many open files, it has no streams.
  const stderr: typeof child.stderr | undefined = child.stderr;
  const [output] = await Promise.all([stderr ? text(stderr) : '', once(child, 'exit')]);
  clearTimeout(limit);
  if (child.signalCode === 'SIGKILL')
    throw new Error(`the CDK app was not synthesized within ${LIMIT_MS / 60_000} minutes:\n${output.trim()}`);
  if (child.exitCode !== 0) throw synthesisFailure(output, outdir);
}

/** By what the app said: what the user can put right in one line, anything else as it is. */
export function synthesisFailure(output: string, outdir: string): Error {
  const missing = describeMissingPackage(output);
  if (missing !== undefined) return new UsageError(missing);
  if (/ENOSPC|no space left on device/.test(output))
    return new UsageError(`no space is left for temporary files in ${outdir}: free some, or set TMPDIR`);
  return new Error(`the CDK app cannot be synthesized:\n${output.trim()}`);
}
