/**
 * Curfew on one machine, on real parts: the embedded API server over HTTP, the synthesized bundles in Lambda's own runtime client,
 * DynamoDB, SQS, EventBridge and Scheduler out of the synthesized template, and the forwarder as a process. Karpenter, kubelets and the disruption
 * controller are played.
 * Each part is who it is in production: RBAC and the roles of the template decide what it may do.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserInfo } from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import type { OtherFunction } from '../../packages/local-aws/src/other-functions.ts';
import { clientConfigFile } from '../../packages/local-aws/src/client-environment.ts';
import { startLocalAws, type LocalAws } from '../../packages/local-aws/src/stack.ts';
import type { AcceptedEntry } from '../../packages/local-aws/src/put-events.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { LogLine } from '../../packages/local-aws/src/log-lines.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CLUSTER_PARAMETERS, ENV } from '../../shared/contract/env.ts';
import { FORWARDER_ACCOUNT } from '../../shared/contract/permissions.ts';
import { cloudOnEc2 } from './ec2-cloud.ts';
import { createEksUsers } from './eks-users.ts';
import { startClusterActors } from './cluster-actors.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from './embedded-cluster.ts';
import { startForwarderProcess, type ForwarderProcess } from './forwarder-process.ts';
import { endWhenInterrupted } from './interruption.ts';
import { checkOpenFiles } from './open-files.ts';
import { createTempFolder } from './temp-folder.ts';
import { synthesize } from './synthesize.ts';

export const CLUSTER_NAME = 'local';

export interface LocalStack {
  readonly cluster: EmbeddedCluster;
  readonly aws: LocalAws;
  readonly forwarder: ForwarderProcess;
  readonly kubeconfigFile: string;
  /** For `AWS_CONFIG_FILE`: a client reaches the local endpoints as the account itself. */
  readonly awsConfigFile: string;
  stop(): Promise<void>;
}

export interface LocalStackOptions {
  /** Port of the API server; 0, the default, takes a free one. */
  readonly port?: number;
  /** Functions of users, which Curfew may invoke: hooks and clean-ups. */
  readonly hookFunctions?: readonly OtherFunction[];
  /** Folder for what DynamoDB keeps. Default: in the temporary folder of the run. */
  readonly dataDir?: string;
  /** More variables for every function, e.g. another endpoint of a service. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  readonly onLog?: (line: LogLine) => void;
  /** Every event that the bus takes. */
  readonly onEvent?: (event: AcceptedEntry) => void;
  /** Called with the cluster before anything else looks at it; what it answers is called when all others have stopped. */
  readonly onCluster?: (core: ApiServerCore) => () => void;
  readonly onProblem: (message: string) => void;
  /** Says what is being done, for a progress line. */
  readonly onStep?: (step: string) => void;
}

/** Throws an Error that says which part did not start; the others are stopped again by then. */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  checkOpenFiles();
  using _ = endWhenInterrupted();
  await using parts = new AsyncDisposableStack();
  const { onStep = () => undefined } = options;
  const { path: folder, remove } = createTempFolder();
  parts.defer(remove);

  onStep('synthesizing the CDK app, starting the API server');
  const assemblyDir = join(folder, 'cdk.out');
  let userOf: ((token: string) => UserInfo | undefined) | undefined;
  // First, so that a port in use is said at once.
  const cluster = await startEmbeddedCluster(systemClock, options.port ?? 0, token => userOf?.(token));
  parts.defer(() => cluster.close());
  if (options.onCluster !== undefined) parts.defer(options.onCluster(cluster.core));
  const { hookFunctions = [] } = options;
  await synthesize(assemblyDir, { tempDir: folder, hookFunctions: hookFunctions.map(({ name }) => name) });
  const writePrivate = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const kubeconfigFile = writePrivate('kubeconfig', cluster.kubeconfig());
  const scheduler = createRealScheduler();
  parts.defer(() => scheduler.close());

  onStep('starting DynamoDB, SQS, EventBridge, Scheduler and Lambda');
  const aws = await startLocalAws({
    assemblyDir,
    parameters: { [CLUSTER_PARAMETERS.name]: CLUSTER_NAME },
    env: { [ENV.clusterName]: CLUSTER_NAME, [ENV.clusterEndpoint]: cluster.url, [ENV.clusterCertificateAuthority]: '' },
    dataDir: options.dataDir ?? join(folder, 'data'),
    otherFunctions: hookFunctions,
    ...(options.extraEnv && { extraEnv: options.extraEnv }),
    ...(options.onLog && { onLog: options.onLog }),
    ...(options.onEvent && { onEvent: options.onEvent }),
    onProblem: problem => options.onProblem(problem.message),
  });
  parts.defer(() => aws.stop());
  userOf = createEksUsers(aws);
  startClusterActors(cluster.core, scheduler, cloudOnEc2(aws.ec2.fleet, CLUSTER_NAME));

  const awsConfigFile = writePrivate('aws-config', clientConfigFile(aws.clientEnv));

  onStep('starting the forwarder');
  const { namespace, name } = FORWARDER_ACCOUNT;
  const forwarder = startForwarderProcess(
    {
      ...aws.clientEnvOf(namespace, name),
      [ENV.clusterName]: CLUSTER_NAME,
      [ENV.eventBusName]: aws.eventBusName,
      KUBECONFIG: writePrivate('forwarder', cluster.kubeconfig(`system:serviceaccount:${namespace}:${name}`)),
      HEALTH_HOST: '127.0.0.1',
      HEALTH_PORT: '0',
    },
    options.onProblem,
  );
  parts.defer(() => forwarder.stop());

  const started = parts.move();
  return { cluster, aws, forwarder, kubeconfigFile, awsConfigFile, stop: () => started.disposeAsync() };
}
