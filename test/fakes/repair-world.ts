/** A cluster, a store and an inbox in memory, for tests of the repair function's shell. */
import { isDeepStrictEqual } from 'node:util';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import { portsWithin, type Identity } from '../../runtime/permissions/ports.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createCluster } from '../../simulator/world.ts';
import { createReconciler } from '../../functions/repair/route.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText, toTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { ObjectEvent } from '../../shared/ports/event-recorder.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import type { InstanceOutcome, InstanceState } from '../../shared/ports/instances.ts';
import type { WakeUp } from '../../shared/contract/wake-up.ts';
import { clusterEvent } from '../builders/cluster-event.ts';
import { at } from '../builders/repair.ts';
import { deployedIdentity } from './deployed-identity.ts';

export const START = at('2024-11-01T15:02:48Z');

type Deps = Parameters<typeof createReconciler>[0];

/** Ends a run at its n-th effect or read: before it happens, or after (the answer is lost). */
export interface Crash {
  readonly call: number;
  readonly side: 'before' | 'after';
}

/**
 * @param identity replaces that of the deployed function, for tests that prove what a missing permission does
 * @param rules replaced where a test counts how often they are asked
 */
export function createRepairWorld(
  identity: Identity = deployedIdentity('repair'),
  rules?: Parameters<typeof createReconciler>[1],
) {
  let now = START;
  const core = createCluster({ now: () => now });
  const writes: ObservedWrite[] = [];
  core.observe(write => {
    if (write.user === 'repair') writes.push(write);
  });
  /** When the forwarder saw the last change of a node's conditions. */
  const observedTimes = new Map<string, EpochMs>();
  const store = createMemoryRecordStore();
  const audit: AuditRecord[] = [];
  const events: ObjectEvent[] = [];
  const counted: Readonly<Record<string, string | number>>[] = [];
  const wakeUps: { wakeUp: WakeUp; delay: DurationMs }[] = [];
  const published: BusEntry[] = [];
  /** Calls that end or restart instances. */
  const instanceCalls: string[] = [];
  /** How the next calls are answered. */
  const cloud: {
    fails: Error | undefined;
    /** How looks at an instance fail. */
    looksFail: Error | undefined;
    outcome: InstanceOutcome;
    state: InstanceState | undefined;
  } = {
    fails: undefined,
    looksFail: undefined,
    outcome: { kind: 'ok' },
    state: 'running',
  };
  const callInstance = async (call: string): Promise<InstanceOutcome> => {
    if (cloud.fails !== undefined) throw cloud.fails;
    if (cloud.outcome.kind === 'ok') instanceCalls.push(call);
    return cloud.outcome;
  };
  let calls = 0;
  /** Calls without an answer yet, and the most that there were. */
  let underWay = 0;
  let mostAtOnce = 0;
  let crash: Crash | undefined;
  /** What another run does just before the next record is written. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  /** Which put it waits for. */
  let isAwaited: (record: NewRecord) => boolean = () => true;
  /** What another run does just before the next record is deleted. */
  let beforeDelete: (() => Promise<unknown>) | undefined;
  /** What somebody else does just before the n-th call of the next look. */
  let between: { readonly call: number; readonly interfere: () => void } | undefined;
  let lists = 0;

  const deps: Deps = {
    kubernetes: crashing(createInProcessKubernetesApi(core, 'repair')),
    records: crashing<FunctionDeps['records']>({
      get: store.get,
      async put(record, expectedVersion) {
        const interfere = isAwaited(record) ? meanwhile : undefined;
        if (interfere !== undefined) meanwhile = undefined;
        await interfere?.();
        return await store.put(record, expectedVersion);
      },
      async delete(key, expectedVersion) {
        const interfere = beforeDelete;
        beforeDelete = undefined;
        await interfere?.();
        return await store.delete(key, expectedVersion);
      },
    }),
    wakeUps: crashing<FunctionDeps['wakeUps']>({
      send: async sent => {
        wakeUps.push(...sent);
      },
    }),
    bus: crashing<FunctionDeps['bus']>({
      publish: async entries => {
        published.push(...entries);
        return entries.map(() => ({ kind: 'published' }));
      },
    }),
    instances: crashing<FunctionDeps['instances']>({
      describe: async () => {
        if (cloud.looksFail !== undefined) throw cloud.looksFail;
        return cloud.state === undefined ? undefined : { state: cloud.state };
      },
      checkOf: async () => undefined,
      list: async () => [],
      terminate: id => callInstance(`terminate ${id}`),
      reboot: id => callInstance(`reboot ${id}`),
      terminateInAutoScalingGroup: id => callInstance(`terminateInAutoScalingGroup ${id}`),
    }),
    events: {
      record: async event => {
        events.push(event);
      },
    },
    audit: { write: record => audit.push(record) },
    metrics: {
      count: (name, value = 1, dimensions = {}) => counted.push({ name, value, ...dimensions }),
      milliseconds: () => undefined,
    },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  };

  function crashing<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get(target, property, receiver) {
        const method: unknown = Reflect.get(target, property, receiver);
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]): Promise<unknown> => {
          calls += 1;
          if (property === 'list' && isDeepStrictEqual(parameters[0], RESOURCES.Node)) lists += 1;
          if (between?.call === calls) between.interfere();
          const dies = crash?.call === calls ? crash.side : undefined;
          if (dies === 'before') throw new RetryableError('crashed');
          underWay += 1;
          mostAtOnce = Math.max(mostAtOnce, underWay);
          const answer: unknown = await Reflect.apply(method, target, parameters).finally(() => (underWay -= 1));
          if (dies === 'after') throw new RetryableError('crashed', { outcomeUnknown: true });
          return answer;
        };
      },
    });
  }

  const reconcile: Reconcile = createReconciler(portsWithin(deps, identity), rules);
  /** A pass that came too soon after another one waits for its turn. */
  async function waitForPasses(): Promise<void> {
    const waiting = store
      .all()
      .filter(({ id, state }) => id.startsWith('round/pass/') && !isDeepStrictEqual(state['waiting'], []))
      .filter(({ nextWakeTime = Infinity }) => nextWakeTime <= now + 2_000);
    for (const { subject, nextWakeTime = now } of waiting) {
      now = toEpochMs(Math.max(now, nextWakeTime));
      await reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: nextWakeTime });
    }
  }
  const node = (name: string): KubernetesObject => core.get({ type: RESOURCES.Node, name });
  return {
    core,
    store,
    writes,
    audit,
    events,
    counted,
    wakeUps,
    published,
    instanceCalls,
    cloud,
    reconcile,
    node,
    seed: (manifest: KubernetesManifest) => core.seed(manifest),
    advance(duration: DurationMs) {
      now = toEpochMs(now + duration);
    },
    now: () => now,
    /** Another run gets in between the next look at a record and its being written. @param which record; absent: any */
    beforeNextPut(interfere: () => Promise<unknown>, which: (record: NewRecord) => boolean = () => true) {
      meanwhile = interfere;
      isAwaited = which;
    },
    /** Another run gets in between the look at a record that is closed and its end. */
    beforeNextDelete(interfere: () => Promise<unknown>) {
      beforeDelete = interfere;
    },
    /** Somebody else gets in just before this call of the next look. */
    beforeCall(call: number, interfere: () => void) {
      between = { call, interfere };
    },
    /** Another run gets in just before a pass reserves its attempts. */
    beforeNextIntent(interfere: () => Promise<unknown>) {
      meanwhile = interfere;
      isAwaited = ({ state }) => JSON.stringify(state).includes('"phase":"intended"');
    },
    /** Lists of Nodes that were asked for so far. */
    listed: () => lists,
    /** Calls that were made so far in the current look. */
    calls: () => calls,
    /** The most calls that the last look had under way at the same time. */
    mostAtOnce: () => mostAtOnce,
    /**
     * Calls that one look at the node makes; with a crash, until it.
     *
     * @param uid of one that is gone
     */
    async look(name: string, ends?: Crash, uid: string = node(name).metadata.uid): Promise<number> {
      calls = 0;
      mostAtOnce = 0;
      crash = ends;
      const isThere = core.list(RESOURCES.Node).items.some(({ metadata }) => metadata.uid === uid);
      const message = clusterEvent({
        subject: { apiVersion: 'v1', kind: 'Node', name, uid },
        change: isThere ? 'Modified' : 'Deleted',
        changed: ['conditions'],
        hints: { nodePool: 'default', nodeName: name },
        observedTime: toIsoText(observedTimes.get(name) ?? now),
      });
      await reconcile(message).catch((error: unknown) => {
        if (!(error instanceof RetryableError)) throw error;
      });
      crash = undefined;
      between = undefined;
      const made = calls;
      await waitForPasses();
      return made;
    },
    /** Delivers what is due, and lets time pass, until then. @param ends where one of its runs dies */
    async run(duration: DurationMs, ends?: Crash): Promise<number> {
      calls = 0;
      crash = ends;
      const end = now + duration;
      for (;;) {
        const next = store
          .all()
          .filter(({ nextWakeTime }) => nextWakeTime !== undefined && nextWakeTime <= end)
          .toSorted((a, b) => (a.nextWakeTime ?? 0) - (b.nextWakeTime ?? 0))[0];
        if (next?.nextWakeTime === undefined) break;
        now = toEpochMs(Math.max(now + 1, next.nextWakeTime));
        const wakeUp = { kind: 'wakeUp', owner: 'repair', subject: next.subject, wakeTime: next.nextWakeTime } as const;
        await reconcile({ ...wakeUp, repeated: true }).catch((error: unknown) => {
          if (!(error instanceof RetryableError)) throw error;
          now = toEpochMs(now + 1_000);
        });
      }
      now = toEpochMs(Math.max(now, end));
      crash = undefined;
      return calls;
    },
    /** Hands every due timer over, as the minute sweep does. */
    async sweep() {
      const due = store.all().filter(({ nextWakeTime }) => nextWakeTime !== undefined && nextWakeTime <= now);
      for (const { subject, nextWakeTime = now } of due) {
        await reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: nextWakeTime, repeated: true });
      }
    },
    setCondition(name: string, type: string, status: string) {
      const current = node(name).status?.['conditions'];
      const others = (Array.isArray(current) ? current : []).filter(
        condition =>
          typeof condition === 'object' && condition !== null && !('type' in condition && condition['type'] === type),
      );
      const condition = { type, status, reason: 'Test', message: '', lastTransitionTime: toTimestamp(now) };
      core.patch(
        { type: RESOURCES.Node, name },
        { type: 'merge', body: { status: { conditions: [...others, condition] } } },
        { user: 'kubelet', subresource: 'status' },
      );
      observedTimes.set(name, now);
    },
  };
}
export type RepairWorld = ReturnType<typeof createRepairWorld>;

/** Gate on, a NodePool with the design's tolerations, and a healthy node with its NodeClaim for each name. */
export function seedPool(world: RepairWorld, names: readonly string[], repair: unknown = DESIGN_REPAIR): void {
  world.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' },
  });
  world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: { repair } });
  const labels = { 'karpenter.sh/nodepool': 'default' };
  for (const name of names) {
    const providerID = `aws:///us-west-2a/i-${name}`;
    world.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: `claim-${name}`, labels, finalizers: ['karpenter.sh/termination'] },
      status: { providerID, nodeName: name },
    });
    world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { providerID } });
    world.setCondition(name, 'Ready', 'True');
  }
}

const DESIGN_REPAIR = {
  defaultTolerationDuration: '30m',
  policies: [
    { conditionType: 'Ready', toleration: '45m' },
    { conditionType: 'NetworkUnavailable', toleration: '10m' },
  ],
};
