/** A cluster, a store and an inbox in memory, for tests of the grace-period function's shell. */
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { ObservedWrite } from '../../packages/kube-apiserver/src/types.ts';
import { portsWithin } from '../../runtime/permissions/ports.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createCluster } from '../../simulator/world.ts';
import { createReconciler } from '../../functions/grace-period/route.ts';
import type { InboxMessage, WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesManifest, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import type { ObjectEvent } from '../../shared/ports/event-recorder.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { WakeUp } from '../../shared/contract/wake-up.ts';
import { CREATED } from '../builders/pods.ts';
import { deployedIdentity } from './deployed-identity.ts';
import { clusterEvent } from '../builders/cluster-event.ts';

type Deps = Parameters<typeof createReconciler>[0];
type Change = 'Added' | 'Modified' | 'Deleted';

/** What happens around a call that a run makes to the API server, the store or the inbox. */
export interface Interference {
  /** The n-th call, or every call of that name. */
  readonly call: number | string;
  readonly before?: () => unknown;
  readonly after?: () => unknown;
}

export function createGracePeriodWorld() {
  let now = CREATED;
  const core = createCluster({ now: () => now });
  const writes: ObservedWrite[] = [];
  core.observe(write => {
    if (write.user === 'grace-period') writes.push(write);
  });
  const store = createMemoryRecordStore();
  const storeWrites: string[] = [];
  const audit: AuditRecord[] = [];
  const events: ObjectEvent[] = [];
  const wakeUps: { readonly wakeUp: WakeUp; readonly delay: DurationMs }[] = [];
  const metrics: { readonly name: string; readonly value: number }[] = [];
  const calls: string[] = [];
  let interference: Interference | undefined;

  /** Every call is counted, and may be interfered with. */
  function counted<Port extends object>(name: string, port: Port): Port {
    return new Proxy(port, {
      get(target, property, receiver) {
        const method: unknown = Reflect.get(target, property, receiver);
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]): Promise<unknown> => {
          const call = `${name}.${String(property)}`;
          calls.push(call);
          const meddles = [call, calls.length].includes(interference?.call ?? 0) ? interference : undefined;
          await meddles?.before?.();
          const answer: unknown = await Reflect.apply(method, target, parameters);
          await meddles?.after?.();
          return answer;
        };
      },
    });
  }

  const deps: Deps = {
    kubernetes: counted('kubernetes', createInProcessKubernetesApi(core, 'grace-period')),
    records: counted('records', {
      get: key => store.get(key),
      put: async (record, version) => {
        const outcome = await store.put(record, version);
        if (outcome.kind === 'written') storeWrites.push('put');
        return outcome;
      },
      delete: async (key, version) => {
        storeWrites.push('delete');
        return store.delete(key, version);
      },
    }),
    wakeUps: counted<FunctionDeps['wakeUps']>('wakeUps', {
      send: async sent => {
        wakeUps.push(...sent);
      },
    }),
    events: counted('events', {
      record: async (event: ObjectEvent) => {
        events.push(event);
      },
    }),
    audit: { write: record => audit.push(record) },
    metrics: {
      count: (name, value = 1) => metrics.push({ name, value }),
      milliseconds: (name, value) => metrics.push({ name, value }),
    },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  };
  const reconcile = createReconciler(portsWithin(deps, deployedIdentity('grace-period')));

  const eventOf = (
    subject: WatchedEvent['subject'],
    change: Change,
    hints: object,
    resourceVersion = '1',
    changed: readonly string[] = [],
  ): InboxMessage => clusterEvent({ change, subject, resourceVersion, changed: [...changed], hints });
  const nodeRef: ObjectRef = { type: RESOURCES.Node, name: 'n1' };
  const podRef = (name: string, namespace = 'prod'): ObjectRef => ({ type: RESOURCES.Pod, namespace, name });

  return {
    core,
    store,
    storeWrites,
    writes,
    audit,
    events,
    wakeUps,
    metrics,
    calls,
    reconcile,
    nodeRef,
    podRef,
    now: () => now,
    setTime(instant: EpochMs) {
      now = instant;
    },
    advance(duration: DurationMs) {
      now = toEpochMs(now + duration);
    },
    seed: (manifest: KubernetesManifest) => core.seed(manifest),
    node: () => core.get(nodeRef),
    /** The annotations of the node that grace periods are about. */
    held() {
      const annotations = core.get(nodeRef).metadata.annotations ?? {};
      return {
        doNotDisrupt: annotations['karpenter.sh/do-not-disrupt'],
        until: annotations['curfew.dev/protected-until'],
      };
    },
    annotate: (ref: ObjectRef, annotations: JsonObject) =>
      core.patch(ref, { type: 'merge', body: { metadata: { annotations } } }),
    record: () => store.all().find(({ owner }) => owner === 'grace-period'),
    interfere(next: Interference | undefined) {
      calls.length = 0;
      interference = next;
    },
    /** The event that tells of the pod as it is now. */
    currentPodEvent: (name: string, change: Change = 'Modified') => {
      const { uid, resourceVersion } = core.get(podRef(name)).metadata;
      const subject = { kind: 'Pod', apiVersion: 'v1', namespace: 'prod', name, uid } as const;
      return reconcile(eventOf(subject, change, { nodeName: 'n1' }, resourceVersion));
    },
    podEvent: (name: string, change: Change = 'Modified', nodeName = 'n1', resourceVersion = '1') =>
      reconcile(
        eventOf(
          { kind: 'Pod', apiVersion: 'v1', namespace: 'prod', name, uid: `uid-${name}` },
          change,
          nodeName === '' ? {} : { nodeName },
          resourceVersion,
        ),
      ),
    nodeEvent: (change: Change = 'Modified', uid = 'uid-n1', changed: readonly string[] = []) => {
      const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid } as const;
      return reconcile(eventOf(subject, change, { nodeName: 'n1' }, '1', changed));
    },
    /** The event that tells of the Node as it is now. */
    currentNodeEvent: () => {
      const { uid, resourceVersion } = core.get(nodeRef).metadata;
      const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid } as const;
      return reconcile(eventOf(subject, 'Modified', { nodeName: 'n1' }, resourceVersion));
    },
    policyEvent: (name: string) =>
      reconcile(
        eventOf(
          { kind: 'NodeLifecyclePolicy', apiVersion: 'curfew.dev/v1alpha1', name, uid: `uid-${name}` },
          'Modified',
          {},
        ),
      ),
    poolEvent: (name: string) =>
      reconcile(
        eventOf({ kind: 'NodePool', apiVersion: 'karpenter.sh/v1', name, uid: `uid-${name}` }, 'Modified', {
          nodePool: name,
        }),
      ),
    wakeUp: (wakeTime: EpochMs = now, uid = 'uid-n1') =>
      reconcile({
        kind: 'wakeUp',
        owner: 'grace-period',
        subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid },
        wakeTime,
      }),
    /** Reasons of the Events so far but the releases, with the names of what they are about. */
    said: () =>
      events
        .filter(({ reason }) => reason !== EVENT_REASONS.nodeDisruptable)
        .map(({ reason, about }) => `${reason} ${about.metadata.name}`),
    /** How often an Event has said that the node is released. */
    releases: () => events.filter(({ reason }) => reason === EVENT_REASONS.nodeDisruptable).length,
    messages: () => events.map(({ message }) => message),
    /** Kinds of decisions in the audit so far. */
    decisions: () => audit.map(({ decision }) => decision),
  };
}
export type GracePeriodWorld = ReturnType<typeof createGracePeriodWorld>;

/** Node `n1` of pool `default`, of uid `uid-n1`. */
export function seedNode(world: GracePeriodWorld): void {
  const labels = { 'karpenter.sh/nodepool': 'default' };
  world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default', uid: 'uid-default' } });
  world.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } });
  world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-n1', labels } });
}

/** A running pod on `n1` that is created now, and its event. */
export async function runPod(world: GracePeriodWorld, name: string, doNotDisrupt: string | undefined): Promise<void> {
  seedPod(world, name, doNotDisrupt);
  await world.podEvent(name, 'Added');
}

/** A running pod on `n1` that is created now. */
export function seedPod(world: GracePeriodWorld, name: string, doNotDisrupt: string | undefined): void {
  const now = toTimestamp(world.now());
  world.seed({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'prod',
      uid: `uid-${name}`,
      creationTimestamp: now,
      ...(doNotDisrupt !== undefined && { annotations: { 'karpenter.sh/do-not-disrupt': doNotDisrupt } }),
    },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] },
    status: { phase: 'Running', startTime: now },
  });
}

/** A policy for all pools. */
export function seedPolicy(world: GracePeriodWorld, name: string, spec: JsonObject): void {
  world.seed({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name, uid: `uid-${name}` },
    spec,
  });
}
