/** Curfew as it is deployed, against a cluster that is there: the bundles in Lambda's runtime client, and all that feeds them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { startForwarderProcess } from '../../cli/start/forwarder-process.ts';
import { startLocalAws } from '../../packages/local-aws/src/stack.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';
import { FORWARDER_ACCOUNT } from '../../shared/contract/permissions.ts';
import { answerQuestions } from '../measure/answering.ts';

const MAX_CONCURRENCY = 5;
const CLUSTER = 'bench';
const startSchema = z.object({ assemblyDir: z.string(), url: z.string(), kubeconfigFile: z.string() });
const problems: string[] = [];
const running = new AsyncDisposableStack();

const folder = mkdtempSync(join(tmpdir(), 'curfew-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

answerQuestions({
  async start(argument) {
    const { assemblyDir, url, kubeconfigFile } = startSchema.parse(argument);
    const aws = await startLocalAws({
      assemblyDir,
      parameters: { [CLUSTER_PARAMETERS.name]: CLUSTER },
      env: { [ENV.clusterName]: CLUSTER, [ENV.clusterEndpoint]: url, [ENV.clusterCertificateAuthority]: '' },
      dataDir: join(folder, 'data'),
      maxConcurrency: MAX_CONCURRENCY,
      onProblem: problem => problems.push(problem.message),
    });
    running.defer(() => aws.stop());
    const { namespace, name } = FORWARDER_ACCOUNT;
    const forwarder = startForwarderProcess(
      {
        ...aws.clientEnvOf(namespace, name),
        [ENV.clusterName]: CLUSTER,
        [ENV.eventBusName]: aws.eventBusName,
        KUBECONFIG: kubeconfigFile,
        HEALTH_HOST: '127.0.0.1',
        HEALTH_PORT: '0',
      },
      problem => problems.push(problem),
    );
    running.defer(() => forwarder.stop());
  },
  problems: () => problems,
  /** Ends the processes of its own: who ends this one without warning leaves them behind. */
  async stop() {
    await running.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  },
});
