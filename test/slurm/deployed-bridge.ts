/**
 * The bridge as it is deployed, a process of its own on an API server where rbac.yaml decides: as the Deployment runs it, and as the Lambda
 * function, which the rules of the example's stack start.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createForwarder } from '../../forwarder/forwarder.ts';
import type { UserInfo } from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import { createRbacAuthorizer } from '../../packages/kube-apiserver/src/authorization/rbac.ts';
import { serveApiServer } from '../../packages/kube-apiserver/src/http/server.ts';
import { endChild, startChild } from '../../packages/local-aws/src/child-processes.ts';
import { compileEventPattern } from '../../packages/local-aws/src/event-pattern.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { ENV } from '../../shared/contract/env.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { createBridgeCluster, readManifest, type BridgeCluster } from '../examples/slurm-drain/bridge-cluster.ts';
import { bridgeTemplate } from '../examples/slurm-drain/bridge-template.ts';

const CLUSTER = 'slurm';
const KEY = 'AKIDBRIDGE';
const SERVICE_ACCOUNT = 'system:serviceaccount:slurm:slurm-bridge';
const MAIN = fileURLToPath(new URL('../../examples/slurm-drain/bridge/main.ts', import.meta.url));
const HANDLER = fileURLToPath(new URL('./handler-process.ts', import.meta.url));

export interface DeployedBridge extends BridgeCluster {
  /** Users and verbs that rbac.yaml refused. */
  readonly refused: readonly string[];
  /** Runs the handler, as the minute tick does. Rejects with its error. */
  tick(): Promise<void>;
  /** @returns the exit code of the process */
  stop(): Promise<number | null>;
}

/** As `examples/slurm-drain/manifests/deployment.yaml` runs it, with the rights of its ServiceAccount. */
export async function startDeployment(env: Readonly<Record<string, string>>): Promise<DeployedBridge> {
  const { cluster, served, refused } = await serve();
  const folder = mkdtempSync(join(tmpdir(), 'curfew-bridge-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, served.kubeconfig(SERVICE_ACCOUNT));
  const child = startChild(process.execPath, [MAIN, '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  return {
    ...cluster,
    refused,
    tick: () => Promise.reject(new Error('the Deployment looks by itself')),
    async stop() {
      await endChild(child, 'SIGTERM');
      await served.close();
      rmSync(folder, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}

/** As the stack runs it: Curfew's forwarder publishes the custom resource, the rule picks it, the function looks once for all that wait. */
export async function startFunction(env: Readonly<Record<string, string>>): Promise<DeployedBridge> {
  const { cluster, served, refused } = await serve();
  const child = startChild(process.execPath, [HANDLER], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      ...env,
      AWS_ACCESS_KEY_ID: KEY,
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-west-2',
      [ENV.clusterName]: CLUSTER,
      [ENV.clusterEndpoint]: served.url,
      [ENV.clusterCertificateAuthority]: Buffer.from('not asked for over HTTP').toString('base64'),
    },
  });
  const run = async (): Promise<void> => {
    child.send('look');
    const [answer] = z.tuple([z.string(), z.unknown()]).parse(await once(child, 'message'));
    if (answer !== 'done') throw new Error(answer);
  };
  // One at a time, as the messages of one group.
  let last: Promise<void> = Promise.resolve();
  const invoke = (): Promise<void> => (last = last.catch(() => undefined).then(run));

  const scheduler = createRealScheduler();
  const isForBridge = compileEventPattern(patternOfRule());
  const forwarder = createForwarder({
    watch: createInProcessClusterWatch(cluster.core, scheduler),
    clock: systemClock,
    metrics: { count: () => undefined, milliseconds: () => undefined },
    config: { cluster: CLUSTER },
    bus: {
      async publish(entries) {
        for (const { source, detailType, detail } of entries) {
          // A failed look comes again with the next message, as from the queue.
          if (isForBridge({ source, 'detail-type': detailType, detail })) invoke().catch(() => undefined);
        }
        return entries.map(() => ({ kind: 'published' }));
      },
    },
  });
  forwarder.start();
  return {
    ...cluster,
    refused,
    tick: invoke,
    async stop() {
      await forwarder.stop();
      scheduler.close();
      await last.catch(() => undefined);
      await endChild(child, 'SIGTERM');
      await served.close();
      return child.exitCode;
    },
  };
}

async function serve() {
  const cluster = createBridgeCluster(() => systemClock.now());
  cluster.core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: CONFIG_MAP.namespace, name: CONFIG_MAP.name },
    data: { [CONFIG_MAP.key]: readManifest('config.toml') },
  });
  const refused: string[] = [];
  const served = await serveApiServer(cluster.core, {
    now: () => systemClock.now(),
    authorization: { authorizer: createRbacAuthorizer(cluster.core), authenticateToken: userOf },
    log: ({ user, method, url, code }) => void (code === 403 && refused.push(`${user} ${method} ${url}`)),
  });
  return { cluster, served, refused };
}

/** The role of the function by its access entry, or the ServiceAccount of the Deployment. */
function userOf(token: string): UserInfo | undefined {
  const [, encoded] = /^k8s-aws-v1\.([\w-]+)$/.exec(token) ?? [];
  if (encoded !== undefined) {
    const url = URL.parse(Buffer.from(encoded, 'base64url').toString());
    const isOurs = url?.searchParams.get('X-Amz-Credential')?.startsWith(`${KEY}/`) === true;
    return isOurs ? { name: 'slurm-bridge-role', groups: GROUPS } : undefined;
  }
  if (token !== `user:${SERVICE_ACCOUNT}`) return undefined;
  return { name: SERVICE_ACCOUNT, groups: ['system:serviceaccounts:slurm'] };
}

const template = bridgeTemplate();
const GROUPS = z
  .array(z.object({ Properties: z.object({ KubernetesGroups: z.array(z.string()) }) }))
  .parse(Object.values(template.findResources('AWS::EKS::AccessEntry')))
  .flatMap(({ Properties }) => Properties.KubernetesGroups);

/** Of the rule for custom resources, for this cluster. */
function patternOfRule(): unknown {
  const rules = Object.values(template.findResources('AWS::Events::Rule'));
  const rule = rules.find(({ Properties }) => Properties.EventPattern !== undefined);
  return JSON.parse(JSON.stringify(rule?.Properties.EventPattern).replace('{"Ref":"ClusterName"}', `"${CLUSTER}"`));
}
