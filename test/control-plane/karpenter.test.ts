/**
 * Karpenter itself, unchanged, with its kwok provider, beside Curfew under production's RBAC. `builtin: Replace` takes Karpenter's
 * finalizer off in the write that creates NodeClaims and Nodes: Karpenter goes on as ever until one is deleted, and leaves that to us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { admissionCommand } from '../../cli/policies.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { ensureControlPlaneBinaries } from './build.ts';
import { readAuditLog, type AuditedRequest } from './end-to-end/audit-log.ts';
import type { CurfewOnCluster } from './end-to-end/curfew-on-cluster.ts';
import {
  EVENTUALLY,
  isTrue,
  type KarpenterBesideCurfew,
  startKarpenterBesideCurfew,
  statusText,
} from './karpenter/beside-curfew.ts';
import type { Kubelets } from './karpenter/kubelets.ts';
import type { KwokInstances } from './karpenter/kwok-instances.ts';
import { NODE_POOL_LABEL, nodePool, podFor } from './karpenter/objects.ts';
import { KARPENTER_USER, missingForKarpenter, type RunningKarpenter } from './karpenter/start.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const missing = await missingForKarpenter(await ensureControlPlaneBinaries(() => undefined));
const FINALIZER = 'example.com/custom';
const POOL = 'edge';
const GRACE_SECONDS = 8;
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
  let karpenter: RunningKarpenter;
  let problems: readonly string[];
  let stop: KarpenterBesideCurfew['stop'] | undefined;
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
    const besides = await startKarpenterBesideCurfew({
      prepare: async ({ plane }, apply) => {
        for (const pool of [nodePool(POOL), nodePool(PLAIN_POOL)]) await apply(pool);
        await apply(nodePool(BRIEF_POOL, undefined, `${EXPIRE_AFTER_SECONDS}s`));
        await apply(policy);
        // It prints what the NodePools and policies that are there ask for.
        const printed: string[] = [];
        const errors: string[] = [];
        const output = { out: (text: string) => printed.push(text), error: (text: string) => errors.push(text) };
        const code = await admissionCommand([], { kubeconfig: plane.adminKubeconfig }, output);
        if (code !== 0) throw new Error(errors.join(''));
        for (const document of parseAllDocuments(printed.join(''))) await apply(document.toJS());
        await apply(budget);
      },
      onEnd: providerID => endedInstances.push({ providerID, time: Date.now() }),
    });
    ({ cluster, kubelets, ec2, karpenter, problems, stop } = besides);
  }, 120_000);
  afterAll(() => stop?.());

  const requests = (): readonly AuditedRequest[] => readAuditLog(cluster.auditLog);
  const isKarpenters = ({ user }: AuditedRequest): boolean => user === KARPENTER_USER;
  const isWrite = ({ verb }: AuditedRequest): boolean => !['get', 'list', 'watch'].includes(verb);
  const claims = async (): Promise<readonly KubernetesObject[]> =>
    await objectsIn(cluster.admin.kubernetes, RESOURCES.NodeClaim);
  const finalizersIn = (object: AuditedRequest['responseObject']): unknown =>
    (object?.['metadata'] as { readonly finalizers?: unknown } | undefined)?.finalizers;
  const nameIn = (object: AuditedRequest['responseObject']): unknown =>
    (object?.['metadata'] as { readonly name?: unknown } | undefined)?.name;

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
