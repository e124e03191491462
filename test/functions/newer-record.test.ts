/** After a rollback: a message that nobody repeats stays in its queue while a newer version keeps the record; any other is left to that version (I9, T5). */
import { describe, expect, it } from 'vitest';
import { createReconciler as createDrain } from '../../functions/drain/route.ts';
import { createReconciler as createFinalizer } from '../../functions/finalizer/route.ts';
import { createReconciler as createRepair } from '../../functions/repair/route.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { createCluster } from '../../simulator/world.ts';
import { clusterEvent } from '../builders/cluster-event.ts';

const NOW = toEpochMs(Date.UTC(2024, 10, 1, 15));
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' } as const;
const STATE = { schemaVersion: 99, strange: true };

/** The functions, whose records a newer version has written. */
async function rolledBack() {
  const core = createCluster({ now: () => NOW });
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1' } });
  const records = createMemoryRecordStore();
  const newer: readonly (readonly [FunctionName, string])[] = [
    ['drain', 'node/u1'],
    ['finalizer', 'node/u1'],
    ['repair', 'node/u1'],
    ['finalizer', 'object/o1'],
    ['finalizer', 'instance/i-1'],
  ];
  for (const [owner, id] of newer)
    await records.put({ owner, id, subject: SUBJECT, state: STATE, nextWakeTime: NOW }, 0);
  const said: string[] = [];
  const refuses = (what: string) => (): Promise<never> => Promise.reject(new Error(`${what} is not asked`));
  const deps = {
    cluster: 'test',
    kubernetes: createInProcessKubernetesApi(core, 'curfew'),
    records,
    wakeUps: { send: async () => undefined },
    bus: { publish: refuses('the bus') },
    instances: {
      describe: async () => ({ state: 'running' as const }),
      terminate: refuses('EC2'),
      reboot: refuses('EC2'),
      terminateInAutoScalingGroup: refuses('EC2'),
      checkOf: async () => undefined,
      list: async () => [],
    },
    hooks: { invoke: refuses('a hook') },
    events: { record: async () => undefined },
    audit: { write: ({ reason }: { readonly reason?: string }) => void said.push(reason ?? '') },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => NOW, sleep: refuses('a pause') },
  };
  const functions = { drain: createDrain(deps), finalizer: createFinalizer(deps), repair: createRepair(deps) };
  return {
    core,
    records,
    functions,
    said,
    stored: () =>
      records
        .all()
        .map(({ state }) => state)
        .filter(({ schemaVersion }) => schemaVersion === STATE.schemaVersion),
  };
}

const busEvent = (source: string, detailType: string, detail: Readonly<Record<string, unknown>>): InboxMessage => ({
  kind: 'busEvent',
  id: 'e1',
  source,
  detailType,
  detail: { ...detail },
});
const HEALTH = {
  nodeName: 'n1',
  agent: 'a',
  checkName: 'c',
  componentClass: 'GPU',
  isFatal: true,
  id: 'h1',
  version: 1,
};

describe('a message that nobody repeats', () => {
  it.each<[string, 'drain' | 'finalizer' | 'repair', InboxMessage]>([
    [
      'a HealthEvent',
      'drain',
      busEvent('nvsentinel', 'HealthEvent', { ...HEALTH, healthEventStatus: { nodeQuarantined: 'Quarantined' } }),
    ],
    [
      'the end of a fault',
      'drain',
      busEvent('nvsentinel', 'HealthEvent', { ...HEALTH, isHealthy: true, isFatal: false }),
    ],
    [
      'a request for a drain',
      'drain',
      busEvent('example', 'DrainRequested', { schemaVersion: 1, id: 'r1', node: { name: 'n1' }, reason: 'x' }),
    ],
    [
      'the answer to a hook',
      'finalizer',
      busEvent('example', 'TerminationHookAnswered', { key: 'u1/snapshot', status: 'Succeeded' }),
    ],
    [
      'the answer to a clean-up',
      'finalizer',
      busEvent('example', 'TerminationHookAnswered', { key: 'o1/rule', status: 'Succeeded' }),
    ],
    ['what a person forgets', 'finalizer', busEvent('curfew.cli', 'OrphanForgotten', { id: 'instance/i-1' })],
    [
      'the end of a drain that a repair waits for',
      'repair',
      busEvent('curfew.drain', 'DrainCompleted', { id: 'u1.1', status: 'Succeeded', message: 'x' }),
    ],
  ])('stays in its queue: %s', async (_, name, message) => {
    const world = await rolledBack();
    await expect(world.functions[name](message)).rejects.toMatchObject({ reason: 'NewerRecord' });
    expect(world.said).toEqual([]);
    expect(world.stored()).toEqual([STATE, STATE, STATE, STATE, STATE]);
  });
});

describe('what is told again, or found by a look', () => {
  it.each<[string, InboxMessage]>([
    ['a change of the Node', clusterEvent({ subject: SUBJECT, changed: ['conditions', 'drain'] })],
    ['the end of the Node', clusterEvent({ subject: SUBJECT, change: 'Deleted', changed: [] })],
  ])('is left to the newer version: %s', async (_, message) => {
    const world = await rolledBack();
    await world.functions.drain(message);
    await world.functions.finalizer(message);
    await world.functions.repair(message);
    expect(world.stored()).toEqual([STATE, STATE, STATE, STATE, STATE]);
  });
});

describe('a termination with hooks', () => {
  it('waits while a newer version keeps the record of its Node, which says where they were called', async () => {
    const world = await rolledBack();
    const providerID = 'aws:///us-west-2a/i-1';
    const labels = { 'karpenter.sh/nodepool': 'web' };
    const finalizers = ['curfew.dev/termination'];
    const deletionTimestamp = '2024-11-01T15:00:00Z';
    const hooks = [{ name: 'h', at: 'before-drain', event: { detailType: 'Leave' }, deadline: '30m' }];
    const claim = { name: 'c1', uid: 'c1' };
    for (const manifest of [
      { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'web' }, spec: {} },
      {
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'web' },
        spec: { nodePoolSelector: {}, mode: 'Enforce', termination: { builtin: 'Replace', hooks } },
      },
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodeClaim',
        metadata: { ...claim, labels, finalizers, deletionTimestamp },
        status: { providerID, nodeName: 'n2', conditions: [{ type: 'Registered', status: 'True' }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n2', uid: 'u2', labels, finalizers, deletionTimestamp },
        spec: { providerID },
      },
    ])
      world.core.seed(manifest);
    await world.records.put(
      { owner: 'finalizer', id: 'node/u2', subject: SUBJECT, state: STATE, nextWakeTime: NOW },
      0,
    );
    const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim' as const, ...claim };
    await expect(world.functions.finalizer(clusterEvent({ subject, changed: [] }))).rejects.toMatchObject({
      reason: 'NewerRecord',
    });
  });
});
