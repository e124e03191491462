/** The functions as a deployment without CDK takes them: both templates, and the code of each function under the name that they ask for. */
import { DefaultStackSynthesizer, type IReusableStackSynthesizer } from 'aws-cdk-lib';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildApp } from '../infra/build-app.ts';
import { zipOf, type Entry } from './archive.ts';
import { filesOf, ROOT } from './files.ts';
import { packagesInMaps } from './packages.ts';

/** Where the templates look for the code; who deploys makes it. */
const CODE_BUCKET = 'curfew-code-${AWS::AccountId}-${AWS::Region}';

export interface AwsFiles {
  /** `NAME.template.json` and `code/HASH.zip`. */
  readonly files: readonly Entry[];
  /** Folders of the packages in the code. */
  readonly packages: ReadonlySet<string>;
}

export function awsFiles(): AwsFiles {
  // Beside `cdk.out`: source maps name sources relative to it.
  const outdir = mkdtempSync(join(ROOT, 'cdk.out-'));
  try {
    const synthesizer = new DefaultStackSynthesizer({
      fileAssetsBucketName: CODE_BUCKET,
      // Nobody needs to bootstrap the account.
      generateBootstrapVersionRule: false,
    });
    const { stacks } = buildApp({ outdir, synthesizer: isReusable(synthesizer) ? synthesizer : undefined }).app.synth();
    const templates = stacks.map(({ stackName, templateFullPath }): Entry => {
      return { path: `${stackName}.template.json`, contents: readFileSync(templateFullPath) };
    });
    const assets = readdirSync(outdir).filter(name => name.startsWith('asset.') && !name.endsWith('.json'));
    const code = assets.map(name => ({
      hash: name.slice('asset.'.length),
      entries: filesOf(join(outdir, name), ['**'], ''),
    }));
    const files = [
      ...templates,
      ...code.map(({ hash, entries }) => ({ path: `code/${hash}.zip`, contents: zipOf(entries) })),
    ];
    return { files, packages: packagesInMaps(code.flatMap(({ entries }) => entries)) };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** It is; the CDK's own types differ by an `undefined`. */
const isReusable = (synthesizer: object): synthesizer is IReusableStackSynthesizer => 'reusableBind' in synthesizer;
