/**
 * Curfew as it is deployed, beside a real control plane: the synthesized bundles in processes under Lambda's runtime client, DynamoDB, SQS,
 * EventBridge and EC2 of the template on this machine, and the forwarder as a process. Each is who it is in production.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudOnEc2 } from '../../../cli/start/ec2-cloud.ts';
import { createEksUsers } from '../../../cli/start/eks-users.ts';
import { startForwarderProcess, type ForwarderProcess } from '../../../cli/start/forwarder-process.ts';
import { synthesize } from '../../../cli/start/synthesize.ts';
import type { LogLine } from '../../../packages/local-aws/src/log-lines.ts';
import { startLocalAws, type LocalAws } from '../../../packages/local-aws/src/stack.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../../shared/contract/env.ts';
import { FUNCTION_TIMEOUT_SECONDS, VISIBILITY_TIMEOUT_SECONDS } from '../../../shared/contract/inbox.ts';
import { FORWARDER_ACCOUNT } from '../../../shared/contract/permissions.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import type { ActorWorld } from '../../../simulator/actors/actor.ts';
import {
  ADMIN,
  applyDefinitionsAndDeployment,
  connectAs,
  credentialsOf,
  FORWARDER_USER,
  whenServed,
} from '../end-to-end/curfew-on-cluster.ts';
import { startControlPlane, type ControlPlane } from '../start.ts';
import { serveTokenReviews } from './token-reviews.ts';

export interface CurfewProcesses {
  readonly plane: ControlPlane;
  readonly aws: LocalAws;
  readonly forwarder: ForwarderProcess;
  /** Instances that run, of the cluster. */
  readonly cloud: ActorWorld['cloud'];
  /** Allowed everything. */
  readonly admin: KubernetesApi;
  stop(): Promise<void>;
}

const CLUSTER_NAME = 'chaos';

/** @param onLog what a function writes; @param onProblem what ends without being asked to */
export async function startCurfewProcesses(
  onLog: (line: LogLine) => void,
  onProblem: (message: string) => void,
): Promise<CurfewProcesses> {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'curfew-chaos-'));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const assemblyDir = join(folder, 'cdk.out');
  const synthesized = synthesize(assemblyDir, { tempDir: folder }).then(() => shortenVisibility(assemblyDir));

  const reviews = await serveTokenReviews(folder);
  parts.defer(() => reviews.stop());
  const plane = await startControlPlane({
    audit: true,
    apiserverFlags: reviews.flags,
    users: [
      { name: ADMIN, groups: ['system:masters'] },
      { name: FORWARDER_USER, groups: ['system:serviceaccounts', 'system:serviceaccounts:curfew'] },
    ],
  });
  parts.defer(() => plane.stop());
  await applyDefinitionsAndDeployment(plane);
  const transport = connectAs(ADMIN, credentialsOf(plane, ADMIN));
  parts.defer(() => transport.close());
  const admin = createKubernetesApi(transport);
  await whenServed(admin);

  await synthesized;
  const aws = await startLocalAws({
    assemblyDir,
    parameters: { [CLUSTER_PARAMETERS.name]: CLUSTER_NAME },
    env: {
      [ENV.clusterName]: CLUSTER_NAME,
      [ENV.clusterEndpoint]: plane.url,
      [ENV.clusterCertificateAuthority]: Buffer.from(plane.caPem).toString('base64'),
    },
    dataDir: join(folder, 'data'),
    onLog,
    onProblem: problem => onProblem(problem.message),
  });
  parts.defer(() => aws.stop());
  reviews.know(createEksUsers(aws));
  const { namespace, name } = FORWARDER_ACCOUNT;
  const forwarder = startForwarderProcess(
    {
      ...aws.clientEnvOf(namespace, name),
      [ENV.clusterName]: CLUSTER_NAME,
      [ENV.eventBusName]: aws.eventBusName,
      KUBECONFIG: plane.kubeconfigFor(FORWARDER_USER),
      HEALTH_HOST: '127.0.0.1',
      HEALTH_PORT: '0',
    },
    onProblem,
    text => onLog({ function: 'forwarder', stream: 'stdout', text, record: undefined }),
  );
  parts.defer(() => forwarder.stop());

  const started = parts.move();
  return {
    plane,
    aws,
    forwarder,
    cloud: cloudOnEc2(aws.ec2.fleet, CLUSTER_NAME),
    admin,
    stop: () => started.disposeAsync(),
  };
}

/** The shortest that AWS takes: what a killed function had in hand comes again after its time-out, and not after six times of it. */
function shortenVisibility(assemblyDir: string): void {
  for (const name of readdirSync(assemblyDir).filter(each => each.endsWith('.template.json'))) {
    const file = join(assemblyDir, name);
    const long = new RegExp(`("VisibilityTimeout": ?)${VISIBILITY_TIMEOUT_SECONDS}\\b`, 'g');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(long, `$1${FUNCTION_TIMEOUT_SECONDS}`));
  }
}
