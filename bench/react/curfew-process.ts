/** Curfew as it is deployed, against a cluster that is there: the bundles in Lambda's runtime client, and all that feeds them. */
import { rmSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { startLocalAws } from '../../packages/local-aws/src/stack.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';
import { buildPrograms } from '../forward/watchers.ts';
import { answerQuestions } from '../measure/answering.ts';

const MAX_CONCURRENCY = 5;
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
      parameters: { [CLUSTER_PARAMETERS.name]: 'bench' },
      env: { [ENV.clusterName]: 'bench', [ENV.clusterEndpoint]: url, [ENV.clusterCertificateAuthority]: '' },
      dataDir: join(folder, 'data'),
      maxConcurrency: MAX_CONCURRENCY,
      onProblem: problem => problems.push(problem.message),
    });
    running.defer(() => aws.stop());
    const programs = await buildPrograms(folder);
    const forwarder = await programs.curfew({
      kubeconfig: kubeconfigFile,
      busUrl: aws.endpoints.eventBridge,
      busName: aws.eventBusName,
    });
    running.use(forwarder.process);
  },
  problems: () => problems,
  /** Ends the processes of its own: who ends this one without warning leaves them behind. */
  async stop() {
    await running.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  },
});
