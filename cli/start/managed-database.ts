/** `npm start -- --example managed-database`: the local stack with a real PostgreSQL, in the hands of kubectl. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { parseAllDocuments } from 'yaml';
import { bundleCleanup } from '../../examples/managed-database/cleanup/bundle.ts';
import { ADMIN, PostgresCannotRun, startPostgres } from '../../examples/managed-database/local/postgres.ts';
import { CLEANUP_FUNCTION, CONTROLLER_USER } from '../../examples/managed-database/names.ts';
import { endChild, startChild } from '../../packages/local-aws/src/child-processes.ts';
import type { LogLine } from '../../packages/local-aws/src/log-lines.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { UsageError } from '../usage-error.ts';
import { endWhenInterrupted, untilInterrupted } from './interruption.ts';
import { startLocalStack, type LocalStack } from './local-stack.ts';
import { narrateAudit, narrateWrite, readAuditLine, readProblem } from './narrate.ts';
import { createTempFolder } from './temp-folder.ts';
import type { Timeline } from './timeline.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'managed-database');
/** The user of PostgreSQL as which the controller and the clean-up log in. */
const OPERATOR = 'operator';

/** Resolves to the exit code once SIGINT or SIGTERM came and everything is stopped. Throws `UsageError` where PostgreSQL does not run. */
export async function serveManagedDatabase(timeline: Timeline, port: number | undefined): Promise<number> {
  await using parts = new AsyncDisposableStack();
  const { stack, databaseUrl } = await start(parts, timeline, port);

  timeline.begin(systemClock.now());
  timeline.heading(`The API server listens on ${stack.cluster.url}`);
  timeline.plain(`  export KUBECONFIG=${stack.kubeconfigFile}`);
  timeline.plain(`  export DATABASE_URL=${databaseUrl}`);
  timeline.plain();
  timeline.plain('  A database with its role is made, and both are dropped before the object goes:');
  timeline.plain('  kubectl apply -f examples/managed-database/manifests/orders.yaml');
  timeline.plain('  kubectl get manageddatabases');
  timeline.plain('  npx node examples/managed-database/sql.ts "SELECT datname FROM pg_database"');
  timeline.plain('  kubectl delete manageddatabase orders');
  timeline.plain();
  timeline.plain('  A clean-up that may not keeps the object and says why on it; it goes once the permission is back:');
  timeline.plain('  kubectl apply -f examples/managed-database/manifests/orders.yaml');
  timeline.plain('  kubectl wait --for=condition=Ready manageddatabase orders');
  timeline.plain(`  npx node examples/managed-database/sql.ts "ALTER ROLE ${OPERATOR} NOCREATEROLE"`);
  timeline.plain('  kubectl delete --wait=false manageddatabase orders');
  timeline.plain('  kubectl describe manageddatabase orders');
  timeline.plain(`  npx node examples/managed-database/sql.ts "ALTER ROLE ${OPERATOR} CREATEROLE"`);
  timeline.plain();
  // Listened to before it is offered.
  const interrupted = untilInterrupted();
  timeline.plain('  Ctrl-C ends it.');
  timeline.plain();
  await interrupted;
  timeline.plain('stopping');
  return 0;
}

async function start(
  parts: AsyncDisposableStack,
  timeline: Timeline,
  port: number | undefined,
): Promise<{ readonly stack: LocalStack; readonly databaseUrl: string }> {
  using _ = endWhenInterrupted();
  const { path: folder, remove } = createTempFolder();
  parts.defer(remove);
  timeline.step('  starting PostgreSQL …');
  const postgres = await startPostgres(folder).catch((error: unknown) => {
    throw error instanceof PostgresCannotRun ? new UsageError(error.message) : error;
  });
  parts.defer(() => postgres.stop());
  const databaseUrl = postgres.url(ADMIN);
  await createOperator(databaseUrl);
  const operatorUrl = postgres.url(OPERATOR);

  const taskRoot = join(folder, 'cleanup');
  mkdirSync(taskRoot);
  await bundleCleanup(taskRoot);
  const stack = await startLocalStack({
    ...(port !== undefined && { port }),
    hookFunctions: [
      { name: CLEANUP_FUNCTION, taskRoot, handler: 'index.handler', environment: { DATABASE_URL: operatorUrl } },
    ],
    onStep: step => timeline.step(`  ${step} …`),
    onProblem: message => timeline.bad(message),
    onLog: line => narrate(timeline, line),
  });
  parts.defer(() => stack.stop());
  for (const file of ['crd.yaml', 'rbac.yaml', 'rule.yaml']) {
    for (const manifest of readManifests(file)) stack.cluster.core.seed(manifest);
  }
  stack.cluster.core.observe(write => narrateWrite(timeline, write));

  const kubeconfig = join(folder, 'controller');
  writeFileSync(kubeconfig, stack.cluster.kubeconfig(CONTROLLER_USER), { mode: 0o600 });
  parts.defer(startController({ KUBECONFIG: kubeconfig, DATABASE_URL: operatorUrl }, timeline));
  return { stack, databaseUrl };
}

function narrate(timeline: Timeline, line: LogLine): void {
  const audit = readAuditLine(line);
  if (audit !== undefined) narrateAudit(timeline, audit);
  const problem = readProblem(line);
  if (problem !== undefined) timeline.bad(problem);
}

async function createOperator(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE ROLE ${OPERATOR} LOGIN CREATEDB CREATEROLE`);
  await client.end();
}

function readManifests(file: string): readonly KubernetesManifest[] {
  const text = readFileSync(join(EXAMPLE, 'manifests', file), 'utf8');
  return parseAllDocuments(text).map(document => document.toJS());
}

/** Answers what ends it. */
function startController(env: Readonly<Record<string, string>>, timeline: Timeline): () => Promise<void> {
  let stopping = false;
  const child = startChild(process.execPath, [join(EXAMPLE, 'controller', 'main.ts')], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', line => timeline.line('controller', line));
  }
  child.once('exit', code => {
    if (!stopping) timeline.bad(`the controller ended with exit code ${code}`);
  });
  return () => {
    stopping = true;
    return endChild(child);
  };
}
