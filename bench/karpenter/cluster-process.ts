/** The control plane of the karpenter bench, with Karpenter itself, in a process of its own: it breaks nodes and says what became of them. */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { createHttpClient } from '../../test/contract/api-server/http-client.ts';
import { applyFiles } from '../../test/contract/api-server/manifests.ts';
import { readAuditLog, type AuditedRequest } from '../../test/control-plane/end-to-end/audit-log.ts';
import {
  ADMIN,
  startCurfewOnCluster,
  type CurfewOnCluster,
} from '../../test/control-plane/end-to-end/curfew-on-cluster.ts';
import { startKubelets, type Kubelets } from '../../test/control-plane/karpenter/kubelets.ts';
import { nodeClass } from '../../test/control-plane/karpenter/objects.ts';
import { KARPENTER_USER, kwokCrds, startKarpenter, startScheduler } from '../../test/control-plane/karpenter/start.ts';
import type { Running } from '../../test/control-plane/processes.ts';
import { answerQuestions } from '../measure/answering.ts';
import { until } from '../measure/until.ts';
import { startCountingProxy, type CountingProxy } from './counting-proxy.ts';
import { podsOf, poolManifest, settingsObjects, TOLERATION_MS, UNHEALTHY } from './objects.ts';
import { startTally, type Tally } from './tally.ts';

/** From the write that makes nodes unhealthy until they are due. */
const LEAD_MS = 2500;
const LEAD_PER_NODE_MS = 50;
const PATIENCE_MS = 180_000;
const PATIENCE = { pollMs: 20, patienceMs: PATIENCE_MS };
const PATIENCE_PER_NODE_MS = 500;
/** Not that of Deployments: the forwarder's own pods would have nodes made. */
const CONTROLLERS = ['replicaset-controller'];
const KWOK_CLASSES: ResourceType = { group: 'karpenter.kwok.sh', version: 'v1alpha1', resource: 'kwoknodeclasses' };
const REPLICA_SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'replicasets' };
const NAMESPACES: ResourceType = { group: '', version: 'v1', resource: 'namespaces' };

const layoutSchema = z.object({ nodes: z.number() });
const burstSchema = z.object({ burst: z.number(), by: z.enum(['karpenter', 'curfew']) });

interface Started {
  readonly cluster: CurfewOnCluster;
  readonly kubelets: Kubelets;
  readonly tally: Tally;
  readonly proxies: Readonly<Record<'karpenter' | 'curfew', CountingProxy>>;
}

let started: Started | undefined;
let karpenter: Running | undefined;
let nodesWanted = 0;

answerQuestions({
  async start() {
    const cluster = await startCurfewOnCluster(() => undefined, CONTROLLERS);
    const { plane, admin } = cluster;
    const http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor(ADMIN) });
    await applyFiles(http, await kwokCrds());
    http.close();
    while ((await admin.kubernetes.list(KWOK_CLASSES)).kind === 'notServed') await sleep(100);
    started = {
      cluster,
      kubelets: await startKubelets(admin.kubernetes, admin.watch),
      tally: await startTally(admin.kubernetes, admin.watch),
      proxies: { karpenter: await startCountingProxy(plane.url), curfew: await startCountingProxy(plane.url) },
    };
    await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
    await create(KWOK_CLASSES, nodeClass);
    for (const { type, manifest } of settingsObjects()) await create(type, manifest);
    await startScheduler(plane);
    return {
      server: started.proxies.curfew.url,
      ca: plane.caPem,
      tokens: Object.fromEntries(cluster.users.map(user => [user, plane.tokenFor(user)])),
    };
  },

  /** Karpenter with or without its own repair, instead of the one that runs. */
  async karpenter(argument) {
    const { nodeRepair } = z.object({ nodeRepair: z.boolean() }).parse(argument);
    const { cluster, proxies } = running();
    await karpenter?.stop();
    karpenter = await startKarpenter(cluster.plane, { nodeRepair, server: proxies.karpenter.url });
  },

  /** Makes the nodes of a layout, with a pod for each. Karpenter runs. */
  async layout(argument) {
    const { nodes } = layoutSchema.parse(argument);
    await create(RESOURCES.NodePool, poolManifest());
    nodesWanted = nodes;
    await create(REPLICA_SETS, podsOf(nodes));
    await settled();
  },

  settled,

  /** Breaks nodes: all are due at the same whole second. Answers what became of their NodeClaims and Nodes. */
  async burst(argument) {
    const { burst, by } = burstSchema.parse(argument);
    const { cluster, tally, proxies } = running();
    const from = statSync(auditLogOf(cluster)).size;
    const bytesBefore = proxies[by].bytes();
    await until('nodes that are old enough', () => oldest(burst).length === burst, PATIENCE);
    const due = dueTime(burst);
    const claims = await breakNodes(burst, due);
    await until('all deletions', () => claims.every(({ uid }) => tally.deletions.has(uid)), PATIENCE);
    const bytes = proxies[by].bytes() - bytesBefore;
    await until('all nodes gone', () => claims.every(({ node }) => tally.gone.has(node)), PATIENCE);
    const requests = readAuditLog(auditLogOf(cluster), from);
    const deletes = requests.filter(
      ({ verb, resource, code }) => verb === 'delete' && resource === 'nodeclaims' && code < 300,
    );
    const begun = requests
      .filter(({ verb, resource, code }) => verb === 'create' && resource === 'nodeclaims' && code === 201)
      .filter(request => partyOf(cluster, request) === by && request.time >= due)
      .map(({ time }) => time - due);
    const accepted = claims.map(({ name }) => deletes.find(request => request.name === name)?.time ?? NaN);
    const last = Math.max(...accepted);
    const asked = requests.filter(request => partyOf(cluster, request) === by && request.time <= last);
    return {
      begunMs: begun.slice(0, claims.length),
      reactionMs: accepted.map(time => time - due),
      goneMs: claims.map(({ node }, index) => (tally.gone.get(node) ?? NaN) - (accepted[index] ?? NaN)),
      requests: asked.length,
      requestsByKind: countByKind(asked),
      bytes,
      deletesByCurfew: deletes.filter(request => partyOf(cluster, request) === 'curfew').length,
    };
  },

  async stop() {
    const { cluster, kubelets } = running();
    kubelets.stop();
    await cluster.stop();
  },
});

function running(): Started {
  invariant(started !== undefined, 'the cluster is started first');
  return started;
}

const auditLogOf = ({ auditLog }: CurfewOnCluster): string => auditLog;

function partyOf({ partOf }: CurfewOnCluster, { user }: AuditedRequest): 'karpenter' | 'curfew' | undefined {
  if (user === KARPENTER_USER) return 'karpenter';
  return partOf(user) === undefined ? undefined : 'curfew';
}

function countByKind(requests: readonly AuditedRequest[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { user, verb, resource = '', subresource } of requests) {
    const kind = `${user} ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** A whole second, as conditions have no finer time. */
const dueTime = (nodes: number): number => Math.ceil((Date.now() + LEAD_MS + nodes * LEAD_PER_NODE_MS) / 1000) * 1000;

interface BrokenClaim {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A condition cannot be older than its Node. */
function oldest(count: number): readonly KubernetesObject[] {
  const madeOf = ({ metadata }: KubernetesObject): number => Date.parse(metadata.creationTimestamp ?? '');
  return running()
    .tally.claims()
    .filter(claim => isInitialized(claim) && madeOf(claim) < Date.now() - TOLERATION_MS)
    .toSorted((a, b) => madeOf(a) - madeOf(b))
    .slice(0, count);
}

async function breakNodes(count: number, due: number): Promise<readonly BrokenClaim[]> {
  const { cluster } = running();
  const chosen = oldest(count);
  const broken = chosen.map(({ metadata: { name, uid }, status }) => {
    const node = status?.['nodeName'];
    invariant(typeof node === 'string', `${name} has a node`);
    return { name, uid, node };
  });
  await Promise.all(broken.map(({ node }) => makeIll(cluster, node, due - TOLERATION_MS)));
  invariant(Date.now() < due, 'the nodes are ill before they are due');
  return broken;
}

async function makeIll({ admin }: CurfewOnCluster, name: string, since: number): Promise<void> {
  const lastTransitionTime = new Date(since).toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = [{ type: UNHEALTHY, status: 'True', reason: 'Bench', lastTransitionTime }];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  const outcome = await admin.kubernetes.patch({ type: RESOURCES.Node, name }, patch, { subresource: 'status' });
  if (outcome.kind !== 'ok') throw new Error(`${name} cannot be changed: ${outcome.kind}`);
}

const isInitialized = ({ metadata, status }: KubernetesObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  JSON.stringify(status?.['conditions'] ?? []).includes('"status":"True","type":"Initialized"');

/** As many nodes as wanted, all of them initialized, for a second. */
async function settled(): Promise<void> {
  const { tally, kubelets } = running();
  const end = Date.now() + PATIENCE_MS + nodesWanted * PATIENCE_PER_NODE_MS;
  for (let quiet = 0; quiet < 2;) {
    await sleep(500);
    const failure = kubelets.failure();
    if (failure !== undefined) throw failure;
    const claims = tally.claims();
    quiet = claims.length === nodesWanted && claims.every(isInitialized) ? quiet + 1 : 0;
    if (Date.now() > end) throw new Error(`${claims.filter(isInitialized).length} of ${nodesWanted} nodes are there`);
  }
}

async function create(type: ResourceType, manifest: KubernetesManifest): Promise<void> {
  const outcome = await running().cluster.admin.kubernetes.create(type, manifest);
  if (outcome.kind !== 'ok' && outcome.kind !== 'exists') {
    throw new Error(`${manifest.kind} ${manifest.metadata.name} cannot be made: ${JSON.stringify(outcome)}`);
  }
}
