/** The template of the bridge's stack. */
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildStack } from '../../../examples/slurm-drain/infra.ts';

export function bridgeTemplate(): Template {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-bridge-'));
  try {
    return Template.fromStack(buildStack(new App({ outdir })));
  } finally {
    rmSync(outdir, { recursive: true });
  }
}
