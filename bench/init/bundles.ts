/**
 * The bundles that are compared, all made by the construct that deploys: those of the functions, and as a reference the same stack
 * with handlers that hold the DynamoDB client and nothing else.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadAssembly } from '../../packages/local-aws/src/template.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';
import { DEPLOYED_FUNCTIONS } from '../../shared/contract/routes.ts';
import { invariant } from '../../shared/errors.ts';

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
  readonly bytes: number;
  /** What Lambda would set. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Bundles extends Disposable {
  readonly functions: readonly Bundle[];
  readonly reference: Bundle;
}

/** Synthesizes twice. Rejects with what the synthesis said when it fails. */
export async function synthesizeBundles(): Promise<Bundles> {
  mkdirSync(WORK_FOLDER, { recursive: true });
  const folder = mkdtempSync(join(WORK_FOLDER, 'init-'));
  const remove = (): void => rmSync(folder, { recursive: true });
  try {
    const handlers = join(folder, 'handlers');
    for (const name of DEPLOYED_FUNCTIONS) {
      mkdirSync(join(handlers, name), { recursive: true });
      writeFileSync(join(handlers, name, 'handler.ts'), REFERENCE_HANDLER);
    }
    const functions = await synthesize(join(folder, 'functions'));
    const [reference] = await synthesize(join(folder, 'reference'), handlers);
    invariant(reference !== undefined, 'at least one function is deployed');
    return { functions, reference: { ...reference, name: 'reference' }, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function synthesize(outdir: string, ...rest: readonly string[]): Promise<readonly Bundle[]> {
  await promisify(execFile)(process.execPath, [SYNTHESIZE, outdir, ...rest]);
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
  return model.functions.map(({ name, taskRoot, environment }) => {
    const path = join(taskRoot, 'index.mjs');
    return { name, path, bytes: statSync(path).size, env: { AWS_REGION: model.region, ...environment } };
  });
}
