/**
 * Curfew's repair beside Karpenter's own, which is on (`NodeRepair`), under production's RBAC: Karpenter as released with its kwok provider, which
 * makes, reboots and ends the nodes. All of it happens at the same time, in a NodePool each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { textAt } from '../../packages/kube-apiserver/src/json.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Manifest } from '../contract/api-server/manifests.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';
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
import { NODE_POOL_LABEL, nodePool, podFor } from './karpenter/objects.ts';
import { KARPENTER_USER, missingForKarpenter } from './karpenter/start.ts';

const missing = await missingForKarpenter(await ensureControlPlaneBinaries(() => undefined));
const REBOOTED = { timeout: 120_000, interval: 100 };
/** Karpenter's tolerations of these two: 30 s. It looks every 10 s. */
const UNHEALTHY = 'KWOKUnhealthy';
const REBOOT_REQUIRED = 'KWOKRebootRequired';
/** Karpenter does not know it. Of a node that is not Ready the kwok provider says at once that its instance is gone, and its pods stay. */
const DISK_SLOW = 'DiskSlow';
/** So long they have lasted when they are seen first. */
const LASTED_MS = 20_000;
/** Consolidation would have begun by then, had it anything to do. */
const QUIET_MS = 40_000;

/** A NodePool each, with what its policy says. */
const BLOCKS: Readonly<Record<string, JsonObject>> = {
  replaced: {
    conditions: [{ type: DISK_SLOW, status: 'True', toleration: '5s' }],
    actions: [{ type: 'ReplaceThenTerminate', timeout: '1m' }, { type: 'Terminate' }],
  },
  // Due at the instant at which it is due for Karpenter, …
  both: { conditions: [{ type: UNHEALTHY, status: 'True', toleration: '30s' }] },
  // … which has begun by then.
  later: { conditions: [{ type: UNHEALTHY, status: 'True', toleration: '42s' }] },
  rebooted: { conditions: [{ type: REBOOT_REQUIRED, status: 'True', toleration: '42s' }] },
};

const GATE = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: CONFIG_MAP.name, namespace: CONFIG_MAP.namespace },
  data: { [CONFIG_MAP.key]: '[featureGates]\nnodeRepair = true\n' },
};
const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'rebooted', namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'rebooted' } } },
};

/** A NodePool and its policy; where nodes are replaced, Karpenter would consolidate them, too. */
function poolWith([name, block]: readonly [string, JsonObject]): readonly Manifest[] {
  const pool = nodePool(name);
  const disruption = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' };
  return [name === 'replaced' ? { ...pool, spec: { ...pool.spec, disruption } } : pool, policyOf(name, block)];
}

describe.skipIf(missing !== undefined)(
  `beside Karpenter's repair${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let cluster: CurfewOnCluster;
    let kubelets: Kubelets;
    let problems: readonly string[];
    let stop: KarpenterBesideCurfew['stop'] | undefined;
    /** The NodeClaim that becomes unhealthy, by its NodePool. */
    const unhealthy = new Map<string, KubernetesObject>();
    let begin = 0;

    beforeAll(async () => {
      const besides = await startKarpenterBesideCurfew({
        controllers: ['replicaset-controller'],
        nodeRepair: true,
        prepare: async (_, apply) => {
          const pools = Object.entries(BLOCKS).flatMap(poolWith);
          for (const manifest of [GATE, ...pools, replicas('replaced'), BUDGET]) await apply(manifest);
        },
      });
      ({ cluster, kubelets, problems, stop } = besides);
      const { admin } = cluster;
      for (const name of ['both', 'later', 'rebooted']) {
        await admin.kubernetes.create(RESOURCES.Pod, podFor(name, name, { app: name }));
      }
      await vi.waitFor(allRun, EVENTUALLY);
      // None begins its life as one that becomes unhealthy.
      await sleep(LASTED_MS);
      begin = Date.now();
      await setCondition('replaced', DISK_SLOW, 'True', 0);
      for (const name of ['both', 'later']) await setCondition(name, UNHEALTHY, 'True', LASTED_MS);
      await setCondition('rebooted', REBOOT_REQUIRED, 'True', LASTED_MS);
    }, 180_000);
    afterAll(() => stop?.());

    const claimsOf = async (pool: string): Promise<readonly KubernetesObject[]> =>
      (await objectsIn(cluster.admin.kubernetes, RESOURCES.NodeClaim)).filter(
        ({ metadata }) => metadata.labels?.[NODE_POOL_LABEL] === pool,
      );
    const unhealthyClaimOf = (pool: string): KubernetesObject => {
      const claim = unhealthy.get(pool);
      if (claim === undefined) throw new Error(`${pool} has no NodeClaim`);
      return claim;
    };
    const nodeOf = (pool: string): string => statusText(unhealthyClaimOf(pool), 'nodeName');
    /** The nodes of all running pods. */
    const runningOn = async (app?: string): Promise<readonly string[]> =>
      (await objectsIn(cluster.admin.kubernetes, RESOURCES.Pod))
        .filter(({ metadata }) => app === undefined || metadata.labels?.['app'] === app)
        .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.['phase'] === 'Running')
        .map(({ spec }) => textAt(spec ?? {}, 'nodeName') ?? '');
    /** Two nodes in one pool, one in each other, a pod on each. */
    const allRun = async (): Promise<void> => {
      for (const name of Object.keys(BLOCKS)) {
        const ready = (await claimsOf(name)).filter(claim => isTrue(claim, 'Initialized'));
        expect([name, ready.length]).toEqual([name, name === 'replaced' ? 2 : 1]);
        const [first] = ready;
        if (first !== undefined) unhealthy.set(name, first);
      }
      expect(await runningOn()).toHaveLength(5);
    };
    const setCondition = async (pool: string, type: string, status: string, lasted: number): Promise<void> => {
      const lastTransitionTime = new Date(Date.now() - lasted).toISOString().replace(/\.\d+Z$/, 'Z');
      const body = { status: { conditions: [{ type, status, reason: 'Test', message: '', lastTransitionTime }] } };
      const ref = { type: RESOURCES.Node, name: nodeOf(pool) };
      const answer = await cluster.admin.kubernetes.patch(ref, { type: 'strategic', body }, { subresource: 'status' });
      expect(answer.kind).toBe('ok');
    };
    const requests = (): readonly AuditedRequest[] =>
      readAuditLog(cluster.auditLog).filter(({ time }) => time >= begin);
    const isGone = async (pool: string): Promise<void> =>
      expect((await claimsOf(pool)).map(({ metadata }) => metadata.uid)).not.toContain(
        unhealthyClaimOf(pool).metadata.uid,
      );

    /** Accepted creations of NodeClaims of that pool, by user. */
    const launchedBy = (pool: string): readonly string[] =>
      requests()
        .filter(({ verb, resource, code }) => verb === 'create' && resource === 'nodeclaims' && code === 201)
        .filter(({ responseObject }) => JSON.stringify(responseObject ?? {}).includes(`"${NODE_POOL_LABEL}":"${pool}"`))
        .map(({ user }) => user);
    /** Who has begun to disrupt it: we by a deletion, Karpenter by its reason. */
    const disruptedBy = (pool: string): readonly string[] => {
      const ofClaim = requests().filter(
        ({ resource, name, code }) =>
          resource === 'nodeclaims' && name === unhealthyClaimOf(pool).metadata.name && code < 300,
      );
      const ours = ofClaim.filter(({ user, verb }) => cluster.partOf(user) === 'repair' && verb === 'delete');
      const karpenters = ofClaim.filter(
        ({ user, responseObject }) =>
          user === KARPENTER_USER &&
          /"reason":"Unhealthy"[^}]*"type":"DisruptionReason"/.test(JSON.stringify(responseObject ?? {})),
      );
      return [...(ours.length > 0 ? ['curfew'] : []), ...(karpenters.length > 0 ? [KARPENTER_USER] : [])];
    };

    it('replaces first: the pods end on our replacement, and consolidation launches and ends nothing', async () => {
      const [other] = (await claimsOf('replaced')).filter(
        ({ metadata: { name, uid } }) =>
          uid !== unhealthyClaimOf('replaced').metadata.uid && !name.includes('-curfew-'),
      );
      await vi.waitFor(() => isGone('replaced'), EVENTUALLY);
      const replacement = `replaced-curfew-${unhealthyClaimOf('replaced').metadata.uid.slice(0, 8)}`;
      const check = async (): Promise<void> => {
        const claims = await claimsOf('replaced');
        expect(new Set(claims.map(({ metadata }) => metadata.name))).toEqual(
          new Set([other?.metadata.name, replacement]),
        );
        expect((await runningOn('replaced')).toSorted()).toEqual(
          claims.map(claim => statusText(claim, 'nodeName')).toSorted(),
        );
      };
      await vi.waitFor(check, EVENTUALLY);
      await sleep(QUIET_MS);
      await check();
      expect(launchedBy('replaced').map(user => cluster.partOf(user))).toEqual(['repair']);
      const node = await objectAt(cluster.admin.kubernetes, {
        type: RESOURCES.Node,
        name: statusText(
          (await claimsOf('replaced')).find(({ metadata }) => metadata.name === replacement) ??
            unhealthyClaimOf('replaced'),
          'nodeName',
        ),
      });
      expect(JSON.stringify([node?.spec?.['taints'] ?? [], node?.metadata.annotations])).not.toMatch(
        /curfew\.dev\/re|do-not-disrupt/,
      );
    }, 180_000);

    it.each(['both', 'later'])(
      'disrupts a node once, whoever begins: %s',
      async pool => {
        await vi.waitFor(() => isGone(pool), EVENTUALLY);
        const by = disruptedBy(pool);
        expect(by).toHaveLength(1);
        if (pool === 'later') expect(by).toEqual([KARPENTER_USER]);
        expect(launchedBy(pool).length).toBeLessThanOrEqual(1);
        expect(launchedBy(pool).filter(user => user !== KARPENTER_USER)).toEqual([]);
      },
      90_000,
    );

    it('leaves a reboot that Karpenter runs alone, and says so', async () => {
      const { kubernetes } = cluster.admin;
      const node = { type: RESOURCES.Node, name: nodeOf('rebooted') };
      await vi.waitFor(async () => {
        const bootID = JSON.stringify((await objectAt(kubernetes, node))?.status?.['nodeInfo'] ?? {});
        expect(bootID).toContain('"bootID":"kwok-');
      }, REBOOTED);
      await setCondition('rebooted', REBOOT_REQUIRED, 'False', 0);
      await vi.waitFor(async () => {
        const [claim] = await claimsOf('rebooted');
        expect(JSON.stringify(claim?.status?.['conditions'])).toMatch(
          /"reason":"RebootSucceeded"[^}]*"type":"Rebooting"/,
        );
      }, EVENTUALLY);
      expect((await claimsOf('rebooted')).map(({ metadata }) => metadata.uid)).toEqual([
        unhealthyClaimOf('rebooted').metadata.uid,
      ]);
      const ours = requests().filter(
        ({ user, verb, name }) =>
          cluster.partOf(user) === 'repair' &&
          !['get', 'list', 'watch'].includes(verb) &&
          [node.name, unhealthyClaimOf('rebooted').metadata.name].includes(name ?? ''),
      );
      expect(ours.map(({ verb, resource }) => [verb, resource])).toEqual([]);
      const said = (await objectsIn(kubernetes, { group: '', version: 'v1', resource: 'events' })).map(event =>
        JSON.stringify(event),
      );
      expect(
        said.filter(text => text.includes(node.name) && /NodeRepairBlocked/.test(text) && /ebooting/.test(text)),
      ).not.toEqual([]);
      expect([kubelets.failure(), problems]).toEqual([undefined, []]);
    }, 200_000);
  },
);

const policyOf = (name: string, repair: JsonObject) => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name },
  spec: { nodePoolSelector: { matchLabels: { pool: name } }, repair: { zoneOutage: 'Off', freeze: 'Off', ...repair } },
});

/** Two pods, each too large for one node with the other. */
const replicas = (pool: string) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: pool, namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: pool } },
    template: {
      metadata: { labels: { app: pool } },
      spec: {
        nodeSelector: { [NODE_POOL_LABEL]: pool },
        terminationGracePeriodSeconds: 2,
        containers: [{ name: 'main', image: 'registry.example.com/main:1', resources: { requests: { cpu: '600m' } } }],
      },
    },
  },
});
