/**
 * Karpenter itself, unchanged, with its kwok provider, beside Curfew under production's RBAC. `builtin: Replace` takes Karpenter's
 * finalizer off in the write that creates NodeClaims and Nodes: Karpenter goes on as ever until one is deleted, and leaves that to us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { admissionCommand } from '../../cli/policies.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import type { System } from '../../runtime/system-parts.ts';
import { createSystem } from '../../runtime/system.ts';
import { textAt } from '../../packages/kube-apiserver/src/json.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { createHttpClient } from '../contract/api-server/http-client.ts';
import { applyFiles, applyManifest, type Manifest } from '../contract/api-server/manifests.ts';
import { ensureControlPlaneBinaries } from './build.ts';
import { readAuditLog, type AuditedRequest } from './end-to-end/audit-log.ts';
import { ADMIN, startCurfewOnCluster, type CurfewOnCluster } from './end-to-end/curfew-on-cluster.ts';
import { startKubelets, type Kubelets } from './karpenter/kubelets.ts';
import { startKwokInstances, type KwokInstances } from './karpenter/kwok-instances.ts';
import { nodeClass, NODE_POOL_LABEL, nodePool, podFor } from './karpenter/objects.ts';
import {
  KARPENTER_USER,
  kwokCrds,
  missingForKarpenter,
  startKarpenter,
  startScheduler,
  type RunningKarpenter,
} from './karpenter/start.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const missing = await missingForKarpenter(await ensureControlPlaneBinaries(() => undefined));
const FINALIZER = 'example.com/custom';
const POOL = 'edge';
const GRACE_SECONDS = 8;
const EVENTUALLY = { timeout: 60_000, interval: 100 };
/** Karpenter would have done something by then, had it anything to do: its controllers poll every 1 to 10 s. */
const QUIET_MS = 12_000;
/** A pool without a policy: Karpenter's own finalizer stays on its nodes. */
const PLAIN_POOL = 'plain';
/** A pool whose nodes Karpenter deletes by itself when they are this old. */
const BRIEF_POOL = 'brief';
const EXPIRE_AFTER_SECONDS = 20;

describe.skipIf(missing !== undefined)(`with Karpenter${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let cluster: CurfewOnCluster;
  let kubelets: Kubelets;
  let ec2: KwokInstances;
  let curfew: System;
  let karpenter: RunningKarpenter;
  const problems: string[] = [];
  const endedInstances: { readonly providerID: string; readonly time: number }[] = [];

  const policy = {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: POOL },
    spec: {
      nodePoolSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values: [POOL, BRIEF_POOL] }] },
      termination: { finalizerName: FINALIZER, builtin: 'Replace', terminationGracePeriod: `${GRACE_SECONDS}s` },
    },
  };
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  };

  beforeAll(async () => {
    cluster = await startCurfewOnCluster(line => process.stderr.write(`${line}\n`));
    const { plane, admin } = cluster;
    const http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor(ADMIN) });
    const apply = async (manifest: Manifest): Promise<void> => {
      const answer = await applyManifest(http, manifest);
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
    };
    await applyFiles(http, await kwokCrds());
    await vi.waitFor(() => apply(nodeClass), EVENTUALLY);
    for (const pool of [nodePool(POOL), nodePool(PLAIN_POOL)]) await apply(pool);
    await apply(nodePool(BRIEF_POOL, undefined, `${EXPIRE_AFTER_SECONDS}s`));
    await apply(policy);
    const printed: string[] = [];
    const output = { out: (text: string) => printed.push(text), error: (text: string) => problems.push(text) };
    const code = await admissionCommand([], { kubeconfig: plane.adminKubeconfig }, output);
    if (code !== 0) throw new Error(problems.join(''));
    for (const document of parseAllDocuments(printed.join(''))) await apply(document.toJS());
    await apply(budget);
    http.close();

    ec2 = await startKwokInstances();
    const store = createMemoryRecordStore();
    curfew = createSystem({
      cluster: 'real',
      scheduler: createRealScheduler(),
      kubernetes: cluster.kubernetes,
      watch: cluster.watch,
      records: store,
      dueIndex: store,
      instances: () => ({
        ...ec2.instances,
        terminate(providerID) {
          endedInstances.push({ providerID, time: Date.now() });
          return ec2.instances.terminate(providerID);
        },
      }),
      audit: { write: () => undefined },
      hooks: { onBuried: message => problems.push(JSON.stringify(message)) },
    });
    curfew.start();
    kubelets = await startKubelets(admin.kubernetes, admin.watch);
    await startScheduler(plane);
    karpenter = await startKarpenter(plane);
  }, 120_000);
  afterAll(async () => {
    await curfew?.stop();
    kubelets?.stop();
    await cluster?.stop();
    await ec2?.stop();
  });

  const requests = (): readonly AuditedRequest[] => readAuditLog(cluster.auditLog);
  const isKarpenters = ({ user }: AuditedRequest): boolean => user === KARPENTER_USER;
  const isWrite = ({ verb }: AuditedRequest): boolean => !['get', 'list', 'watch'].includes(verb);
  const claims = async (): Promise<readonly KubernetesObject[]> =>
    await objectsIn(cluster.admin.kubernetes, RESOURCES.NodeClaim);
  const isTrue = ({ status }: KubernetesObject, type: string): boolean =>
    JSON.stringify(status?.['conditions'] ?? []).includes(`"status":"True","type":"${type}"`);
  const finalizersIn = (object: AuditedRequest['responseObject']): unknown =>
    (object?.['metadata'] as { readonly finalizers?: unknown } | undefined)?.finalizers;
  const nameIn = (object: AuditedRequest['responseObject']): unknown =>
    (object?.['metadata'] as { readonly name?: unknown } | undefined)?.name;

  const statusText = ({ status }: KubernetesObject, key: string): string => textAt(status ?? {}, key) ?? '';

  /** One NodeClaim of that pool comes for the pod, and its node runs it. */
  const launch = async (pool: string, podName: string): Promise<KubernetesObject> => {
    const { kubernetes } = cluster.admin;
    await kubernetes.create(RESOURCES.Pod, podFor(pool, podName, pool === POOL ? { app: 'web' } : {}));
    return await vi.waitFor(async () => {
      const found = (await claims()).find(({ metadata }) => metadata.labels?.[NODE_POOL_LABEL] === pool);
      if (found === undefined || !isTrue(found, 'Initialized')) throw new Error(`no node of ${pool} is ready`);
      const pod = await objectAt(kubernetes, { type: RESOURCES.Pod, namespace: 'default', name: podName });
      expect([pod?.spec?.['nodeName'], pod?.status?.['phase']]).toEqual([statusText(found, 'nodeName'), 'Running']);
      return found;
    }, EVENTUALLY);
  };
  /** What Karpenter does when nothing happens: looks of its controllers of NodeClaims and Nodes, and writes to these objects. */
  const watchQuietly = async (): Promise<{
    readonly looks: number;
    readonly errors: number;
    readonly writes: string[];
  }> => {
    const countOf = (counts: ReadonlyMap<string, number>, isCounted: (key: string) => boolean): number =>
      [...counts]
        .filter(([key]) => key.startsWith('node') && isCounted(key))
        .reduce((sum, [, count]) => sum + count, 0);
    // What the launch has set off is over.
    await sleep(QUIET_MS / 3);
    const [begin, before] = [Date.now(), await karpenter.reconciles()];
    await sleep(QUIET_MS);
    const after = await karpenter.reconciles();
    const isError = (key: string): boolean => key.endsWith(' error');
    const written = requests().filter(
      request =>
        isKarpenters(request) &&
        isWrite(request) &&
        request.time > begin &&
        ['nodes', 'nodeclaims'].includes(request.resource ?? ''),
    );
    return {
      looks: countOf(after, () => true) - countOf(before, () => true),
      errors: countOf(after, isError) - countOf(before, isError),
      writes: written.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`),
    };
  };

  let claim: KubernetesObject;
  let nodeName: string;
  /** With a node that has Karpenter's finalizer. */
  let asEver: Awaited<ReturnType<typeof watchQuietly>>;

  it('is quiet about a node of a pool that asks for nothing', async () => {
    const plain = await launch(PLAIN_POOL, 'plain-0');
    expect(plain.metadata.finalizers).toEqual(['karpenter.sh/termination']);
    asEver = await watchQuietly();
    expect(asEver).toMatchObject({ errors: 0, writes: [] });
    expect(asEver.looks).toBeGreaterThan(0);
  }, 90_000);

  it('has our finalizer on every NodeClaim and Node from the CREATE on, and only ours', async () => {
    claim = await launch(POOL, 'web-0');
    nodeName = statusText(claim, 'nodeName');
    const created = requests().filter(
      request => isKarpenters(request) && request.verb === 'create' && request.code === 201,
    );
    const of = (resource: string, name: string) =>
      created
        .filter(request => request.resource === resource && nameIn(request.responseObject) === name)
        .map(({ responseObject }) => finalizersIn(responseObject));
    expect(of('nodeclaims', claim.metadata.name)).toEqual([[FINALIZER]]);
    expect(of('nodes', nodeName)).toEqual([[FINALIZER]]);
    ec2.launch(statusText(claim, 'providerID'));
  }, 90_000);

  it('does not loop on the finalizer that it misses: it looks at this node as often as at the other', async () => {
    const { looks, errors, writes } = await watchQuietly();
    expect({ errors, writes }).toEqual({ errors: 0, writes: [] });
    // Two nodes now, and what it looks at by itself every few seconds may fall into this time once more.
    expect(looks).toBeLessThanOrEqual(2 * asEver.looks + 5);
  }, 60_000);

  it('leaves a deleted NodeClaim to us, which ends it, instance first, by the deadline under a blocked budget', async () => {
    const { kubernetes } = cluster.admin;
    const providerID = statusText(claim, 'providerID');
    const begin = Date.now();
    const { name, uid } = claim.metadata;
    await kubernetes.delete({ type: RESOURCES.NodeClaim, name }, { preconditions: { uid } });
    await vi.waitFor(async () => {
      expect((await claims()).filter(({ metadata }) => metadata.uid === uid)).toEqual([]);
    }, EVENTUALLY);
    // At the deadline an instance on its way out is not waited for: nothing stops it any more.
    expect(['shutting-down', 'terminated']).toContain(ec2.stateOf(providerID));
    expect(await objectAt(kubernetes, { type: RESOURCES.Node, name: nodeName })).toBeUndefined();

    const since = requests().filter(({ time }) => time >= begin - 1000);
    // Karpenter: nothing, on the Node, the NodeClaim or the pod; but the NodeClaim's status says when a pod last went.
    const touched = since.filter(
      request => isKarpenters(request) && isWrite(request) && [name, nodeName, 'web-0'].includes(request.name ?? ''),
    );
    expect(
      touched
        .filter(({ resource, subresource }) => resource !== 'nodeclaims' || subresource !== 'status')
        .map(({ verb, resource, subresource, code }) => [verb, resource, subresource, code]),
    ).toEqual([]);
    // Curfew: the budget holds the eviction, the pod is deleted before the deadline, the finalizers go last, after the instance.
    const ours = since.filter(({ user }) => cluster.partOf(user) === 'finalizer');
    expect(ours.some(({ subresource, code }) => subresource === 'eviction' && code === 429)).toBe(true);
    expect(ours.some(({ subresource, code }) => subresource === 'eviction' && code < 300)).toBe(false);
    const forced = ours.find(({ verb, resource }) => verb === 'delete' && resource === 'pods');
    const released = ours.findLast(({ verb, resource }) => verb === 'patch' && resource === 'nodeclaims');
    expect(forced?.time ?? 0).toBeGreaterThan(begin + (GRACE_SECONDS - 4) * 1000);
    expect(endedInstances).toEqual([{ providerID, time: expect.any(Number) }]);
    expect(released?.time ?? 0).toBeGreaterThan(endedInstances[0]?.time ?? Infinity);
    expect([kubelets.failure(), problems]).toEqual([undefined, []]);
  }, 90_000);

  it('leaves a NodeClaim that it deletes itself to us, because it has expired', async () => {
    const { kubernetes } = cluster.admin;
    const begin = Date.now();
    const brief = await launch(BRIEF_POOL, 'brief-0');
    const { name, uid } = brief.metadata;
    const [providerID, itsNode] = [statusText(brief, 'providerID'), statusText(brief, 'nodeName')];
    ec2.launch(providerID);
    await vi.waitFor(async () => {
      expect((await claims()).filter(({ metadata }) => metadata.uid === uid)).toEqual([]);
    }, EVENTUALLY);
    expect(ec2.stateOf(providerID)).toBe('terminated');
    expect(await objectAt(kubernetes, { type: RESOURCES.Node, name: itsNode })).toBeUndefined();

    const since = requests().filter(({ time }) => time >= begin);
    const of = (part: (request: AuditedRequest) => boolean, verb: string): readonly (string | undefined)[] =>
      since
        .filter(
          request => part(request) && request.verb === verb && [name, itsNode, 'brief-0'].includes(request.name ?? ''),
        )
        // Of two runs that ask for the same one is refused: the version that it has looked at is the precondition (I4).
        .filter(({ code }) => code !== 409)
        .map(({ resource, subresource }) => (subresource === undefined ? resource : `${resource}/${subresource}`));
    const isOurs = ({ user }: AuditedRequest): boolean => cluster.partOf(user) === 'finalizer';
    expect(of(isKarpenters, 'delete')).toEqual(['nodeclaims']);
    expect(of(isOurs, 'delete')).toEqual(['nodes']);
    expect(of(isKarpenters, 'create')).not.toContain('pods/eviction');
    expect(of(isOurs, 'create')).toContain('pods/eviction');
    expect(endedInstances.map(ended => ended.providerID)).toContain(providerID);
    expect([kubelets.failure(), problems]).toEqual([undefined, []]);
  }, 90_000);
});
