import { describe, expect, it } from 'vitest';
import { policyChanged, statusDue, surroundingsChanged } from '../../../../functions/repair/policy-status/wake-ups.ts';
import type { PolicyStatusDeps } from '../../../../functions/repair/policy-status/context.ts';
import { repairCountsOf } from '../../../../functions/repair/pass-queue.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import { type DurationMs, hours, minutes, seconds, toEpochMs, toTimestamp } from '../../../../shared/domain/time.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { T } from '../../../builders/repair.ts';

/** Some policies in a cluster, and the ports that their status is kept through. */
function start(...names: readonly string[]) {
  let now = T;
  const core = createCluster({ now: () => now });
  const store = createMemoryRecordStore();
  let patches = 0;
  core.observe(({ resource, user }) => {
    if (resource.kind === 'NodeLifecyclePolicy' && user === 'repair') patches += 1;
  });
  const add = (name: string, spec: JsonObject = { repair: {} }): void => {
    core.seed({ apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name }, spec });
  };
  for (const name of names) add(name);
  const records = {
    records: store,
    wakeUps: { send: async () => undefined },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  };
  const ports: PolicyStatusDeps & typeof records = {
    ...records,
    repairCountsOf: pool => repairCountsOf(records, pool),
    kubernetes: createInProcessKubernetesApi(core, 'repair'),
    events: { record: async () => undefined },
    reporter: { report: async () => undefined },
    audit: { write: () => undefined },
  };
  return {
    ports,
    core,
    add,
    now: () => now,
    patches: () => patches,
    advance(duration: DurationMs) {
      now = toEpochMs(now + duration);
    },
    record: () => store.all().find(({ id }) => id === 'policy-status'),
    statusOf: (name: string) => core.get({ type: RESOURCES.NodeLifecyclePolicy, name }).status,
  };
}

describe('the status of the policies', () => {
  it('is written when one is edited, and not again when nothing differs', async () => {
    const world = start('a', 'b');
    await policyChanged(world.ports);
    expect(world.patches()).toBe(2);
    expect(world.statusOf('a')).toMatchObject({ nodePools: 0, nodes: 0, observedGeneration: 1 });
    world.advance(seconds(5));
    await policyChanged(world.ports);
    expect(world.patches()).toBe(2);
  });

  it('keeps the transition time of a condition that stays as it was', async () => {
    const world = start('a');
    await policyChanged(world.ports);
    const since = toTimestamp(T);
    world.core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'web' } });
    world.advance(minutes(5));
    await surroundingsChanged(world.ports, 'zero');
    expect(world.statusOf('a')).toMatchObject({ nodePools: 1 });
    const { conditions } = world.statusOf('a') as { conditions: readonly JsonObject[] };
    expect(conditions.find(({ type }) => type === 'Accepted')).toMatchObject({ lastTransitionTime: since });
  });

  it('is looked at five minutes after the last look while only numbers change, by one timer for all of them', async () => {
    const world = start('a');
    await policyChanged(world.ports);
    world.add('b');
    world.advance(seconds(5));
    for (let change = 0; change < 5; change++) await surroundingsChanged(world.ports, 'count');
    expect(world.statusOf('b')).toBeUndefined();
    expect(world.record()?.nextWakeTime).toBe(T + minutes(5));
    await surroundingsChanged(world.ports, 'zero');
    expect(world.record()?.nextWakeTime).toBe(T + seconds(10));
    world.advance(minutes(5));
    await statusDue(world.ports, { wakeTime: world.now() });
    expect(world.statusOf('b')).toMatchObject({ observedGeneration: 1 });
    expect(world.record()?.nextWakeTime).toBe(world.now() + hours(1));
  });

  it('is written a dozen times an hour at most while only numbers change, whatever asks for the looks', async () => {
    const world = start('a');
    await policyChanged(world.ports);
    const before = world.patches();
    const wake = async (): Promise<void> => {
      const wakeTime = world.record()?.nextWakeTime;
      if (wakeTime !== undefined && wakeTime <= world.now()) await statusDue(world.ports, { wakeTime });
    };
    for (let change = 1; change <= 360; change++) {
      world.advance(seconds(10));
      world.core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: `n${change}` } });
      await surroundingsChanged(world.ports, 'zero');
      await wake();
    }
    expect(world.patches() - before).toBe(12);
    world.core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'last' } });
    world.advance(seconds(10));
    await surroundingsChanged(world.ports, 'zero');
    expect(world.statusOf('a')).toMatchObject({ nodes: 360 });
    world.advance(minutes(5));
    await wake();
    expect(world.statusOf('a')).toMatchObject({ nodes: 361 });
  });

  it('costs no record and no look while there is no policy', async () => {
    const world = start();
    await surroundingsChanged(world.ports, 'zero');
    expect(world.record()).toBeUndefined();
    await policyChanged(world.ports);
    expect(world.patches()).toBe(0);
    expect(world.record()).toBeUndefined();
  });

  it('says which pools a newer version counts', async () => {
    const world = start();
    world.add('a', { nodePoolSelector: {}, mode: 'Enforce', repair: {} });
    world.core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'web' } });
    const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'web' };
    await world.ports.records.put({ owner: 'repair', id: 'pool/web', subject, state: { schemaVersion: 99 } }, 0);
    await policyChanged(world.ports);
    expect(world.statusOf('a')).toMatchObject({ held: 0, repairing: 0, pools: [{ name: 'web', nodes: 0 }] });
    const { pools, conditions } = world.statusOf('a') as Record<'pools' | 'conditions', readonly JsonObject[]>;
    expect(pools[0]).not.toHaveProperty('repairing');
    expect(conditions.find(({ type }) => type === 'Warning')).toMatchObject({
      reason: 'NotCounted',
      message: 'held and repairing leave out NodePool web: a newer version counts there',
    });
  });

  it('that somebody else overwrote is put right at the next look', async () => {
    const world = start('a');
    await policyChanged(world.ports);
    const ref = { type: RESOURCES.NodeLifecyclePolicy, name: 'a' };
    const patch = { type: 'merge', body: { status: { nodes: 99 } } } as const;
    world.core.patch(ref, patch, { user: 'somebody', subresource: 'status' });
    world.advance(hours(1));
    await statusDue(world.ports, { wakeTime: world.now() });
    expect(world.statusOf('a')).toMatchObject({ nodes: 0 });
  });
});
