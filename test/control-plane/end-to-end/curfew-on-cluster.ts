/** A control plane with everything of `deploy/` in it, and Curfew's parts as who they are in production. */
import { fileURLToPath } from 'node:url';
import { createClusterWatch } from '../../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toDurationMs } from '../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { createHttpClient } from '../../contract/api-server/http-client.ts';
import { applyFiles } from '../../contract/api-server/manifests.ts';
import { DEPLOY_FILES } from '../../contract/manifests.contract.ts';
import { DEFAULT_CONTROLLERS, startControlPlane, type ControlPlane } from '../start.ts';
import type { RealCluster } from './run-on-cluster.ts';

export const FORWARDER = 'forwarder';
/** Allowed to do everything. */
export const ADMIN = 'end-to-end';
/** Users as an EKS access entry makes them of a function's role, and the forwarder's service account. */
export const FORWARDER_USER = 'system:serviceaccount:curfew:curfew-forwarder';
export const userOf = (name: FunctionName): string => `curfew-${name}`;

export interface CurfewOnCluster extends RealCluster {
  readonly plane: ControlPlane;
  /** Those of Curfew's parts. */
  readonly users: readonly string[];
  /** The forwarder's own client, for what is no part of watching: its Lease. */
  readonly forwarder: KubernetesApi;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** @param controllers to run beside the default ones */
export async function startCurfewOnCluster(
  log: (line: string) => void,
  controllers: readonly string[] = [],
): Promise<CurfewOnCluster> {
  const parts = new Map<string, string>([
    [FORWARDER_USER, FORWARDER],
    ...FUNCTION_NAMES.map((name): [string, string] => [userOf(name), name]),
  ]);
  const plane = await startControlPlane({
    audit: true,
    controllers: [...DEFAULT_CONTROLLERS, ...controllers],
    log,
    users: [
      { name: ADMIN, groups: ['system:masters'] },
      { name: FORWARDER_USER, groups: ['system:serviceaccounts', 'system:serviceaccounts:curfew'] },
      ...FUNCTION_NAMES.map(name => ({ name: userOf(name), groups: [`curfew:${name}`] })),
    ],
  });
  await applyDefinitionsAndDeployment(plane);
  const transports = new Map([...parts.keys(), ADMIN].map(user => [user, connectAs(user, credentialsOf(plane, user))]));
  const transportOf = (user: string): Transport => {
    const transport = transports.get(user);
    if (transport === undefined) throw new Error(`${user} is not connected`);
    return transport;
  };
  const admin = transportOf(ADMIN);
  const asAdmin = createKubernetesApi(admin);
  await whenServed(asAdmin);
  const { auditLog } = plane;
  if (auditLog === undefined) throw new Error('the control plane keeps no audit log');
  return {
    plane,
    users: [...parts.keys()],
    catalog: clusterCatalog(),
    kubernetes: by => createKubernetesApi(transportOf(userOf(by))),
    watch: createClusterWatch(transportOf(FORWARDER_USER)),
    forwarder: createKubernetesApi(transportOf(FORWARDER_USER)),
    admin: { kubernetes: asAdmin, watch: createClusterWatch(admin) },
    auditLog,
    partOf: user => parts.get(user),
    async stop() {
      for (const transport of transports.values()) transport.close();
      await plane.stop();
    },
  };
}

/** Karpenter's definitions, and all of `deploy/`. @param plane has the user ADMIN */
export async function applyDefinitionsAndDeployment(plane: ControlPlane): Promise<void> {
  const http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor(ADMIN) });
  await applyFiles(http, plane.karpenterCrds);
  await applyFiles(
    http,
    DEPLOY_FILES.map(file => `${root}${file}`),
  );
  http.close();
}

/** Definitions are served a moment after they were applied. */
export async function whenServed(kubernetes: Pick<KubernetesApi, 'list'>): Promise<void> {
  for (const type of [RESOURCES.NodeClaim, RESOURCES.NodePool, RESOURCES.NodeLifecyclePolicy]) {
    while ((await kubernetes.list(type)).kind === 'notServed') await systemClock.sleep(toDurationMs(100));
  }
}

export interface Credentials {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
}

export const credentialsOf = ({ url, caPem, tokenFor }: ControlPlane, user: string): Credentials => ({
  server: url,
  ca: caPem,
  token: tokenFor(user),
});

export function connectAs(user: string, { server, ca, token }: Credentials): Transport {
  return createTransport({
    server,
    clock: systemClock,
    userAgent: user,
    tls: { ca },
    authenticator: { headers: async () => ({ authorization: `Bearer ${token}` }), invalidate: () => undefined },
  });
}
