/** The bundles that are compared: those of the functions as infra synthesizes them, and the DynamoDB client alone, bundled with the same options. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { BUNDLING } from '../../infra/bundling.ts';
import { loadAssembly } from '../../packages/local-aws/src/template.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';

const SYNTHESIZE = join(import.meta.dirname, 'synthesize.ts');
/** Inside the repository, so that bundling finds `node_modules`. */
const WORK_FOLDER = join(import.meta.dirname, '..', '..', '.cache', 'bench');

/** The commands that the record store sends: what a function that does the least with its table would carry. */
const REFERENCE_HANDLER = `import { DynamoDBClient, DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
export const handler = () => [DynamoDBClient, DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand];
`;

export interface Bundle {
  readonly name: string;
  readonly path: string;
  /** Of code that is loaded with `path`: what it imports, and what that imports, but for `import()`. */
  readonly startBytes: number;
  /** Of all code that is deployed with it. */
  readonly bytes: number;
  /** What Lambda would set. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Bundles extends Disposable {
  readonly functions: readonly Bundle[];
  readonly reference: Bundle;
}

/** Rejects with what the synthesis said when it fails. */
export async function synthesizeBundles(): Promise<Bundles> {
  mkdirSync(WORK_FOLDER, { recursive: true });
  const folder = mkdtempSync(join(WORK_FOLDER, 'init-'));
  const remove = (): void => rmSync(folder, { recursive: true });
  try {
    return {
      functions: await synthesize(join(folder, 'functions')),
      reference: await bundleReference('reference', folder),
      [Symbol.dispose]: remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function synthesize(outdir: string): Promise<readonly Bundle[]> {
  await promisify(execFile)(process.execPath, [SYNTHESIZE, outdir]);
  const model = loadAssembly(outdir, {
    region: 'us-west-2',
    account: '000000000000',
    sqsEndpoint: 'http://127.0.0.1',
    parameters: { [CLUSTER_PARAMETERS.name]: 'bench' },
    environment: {
      [ENV.clusterName]: 'bench',
      [ENV.clusterEndpoint]: 'https://127.0.0.1',
      [ENV.clusterCertificateAuthority]: '',
    },
  });
  return Promise.all(
    model.functions.map(({ name, taskRoot, environment }) =>
      toBundle(name, taskRoot, { AWS_REGION: model.region, ...environment }),
    ),
  );
}

async function bundleReference(name: string, folder: string): Promise<Bundle> {
  const handler = join(folder, 'reference.ts');
  writeFileSync(handler, REFERENCE_HANDLER);
  const outdir = join(folder, name);
  await build({ ...BUNDLING, entryPoints: { index: handler }, outdir });
  return toBundle(name, outdir, { AWS_REGION: 'us-west-2' });
}

async function toBundle(name: string, taskRoot: string, env: Bundle['env']): Promise<Bundle> {
  const path = join(taskRoot, 'index.mjs');
  const deployed = readdirSync(taskRoot, { recursive: true, encoding: 'utf8' }).filter(file => /\.m?js$/.test(file));
  return {
    name,
    path,
    startBytes: await startBytesOf(path),
    bytes: deployed.reduce((sum, file) => sum + statSync(join(taskRoot, file)).size, 0),
    env,
  };
}

/** esbuild reads again what it wrote, and says who imports whom and how. */
async function startBytesOf(path: string): Promise<number> {
  const { metafile } = await build({
    entryPoints: [path],
    absWorkingDir: join(path, '..'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const started = new Set(['index.mjs']);
  for (const file of started) {
    for (const { kind, path: to, external } of metafile.inputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) started.add(to);
    }
  }
  return [...started].reduce((sum, file) => sum + (metafile.inputs[file]?.bytes ?? 0), 0);
}
