import { describe, expect, it } from 'vitest';
import { startDisruption } from '../../../simulator/actors/disruption.ts';
import { startKubelet } from '../../../simulator/actors/kubelet.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { createVirtualTime, type VirtualTime } from '../../../simulator/virtual-time.ts';
import { createWorld, type World } from '../../../simulator/world.ts';
import { ApiStatusError } from '../../../packages/kube-apiserver/src/types.ts';
import { addDuration, minutes, seconds } from '../../../shared/domain/time.ts';
import { scenario } from '../simulate.ts';

const pod = (name: string, more = ''): string =>
  `    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: ${name}, labels: { app: web }${more} }, spec: { nodeName: n1 } }\n`;
const budget = (spec: string): string =>
  `    - { apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: { namespace: prod, name: web }, spec: { selector: { matchLabels: { app: web } }, ${spec} } }\n`;

async function start(objects: string): Promise<{ world: World; time: VirtualTime; evict: (name: string) => number }> {
  const parsed = scenario(`  objects:\n${objects}`);
  const time = createVirtualTime({ start: parsed.start });
  const world = createWorld(parsed, time);
  const cloud = createCloud(time);
  for (const actor of [startKubelet, startDisruption]) actor({ core: world.core, scheduler: time, cloud });
  await time.runUntil(time.now());
  const evict = (name: string): number => {
    try {
      return world.core.evict({ type: { group: '', version: 'v1', resource: 'pods' }, namespace: 'prod', name }).code;
    } catch (error) {
      if (error instanceof ApiStatusError) return error.status.code;
      throw error;
    }
  };
  return { world, time, evict };
}

const statusOf = (world: World): unknown =>
  world.get({ resource: 'poddisruptionbudgets', namespace: 'prod', name: 'web' })?.status;

describe('disruption', () => {
  it('counts what is healthy and what may go', async () => {
    const { world } = await start(budget('minAvailable: 2') + pod('a') + pod('b') + pod('c'));
    expect(statusOf(world)).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      disruptionsAllowed: 1,
      expectedPods: 3,
      observedGeneration: 1,
    });
  });

  it('lets the API server refuse the eviction that the budget forbids', async () => {
    const { evict, time } = await start(budget('minAvailable: 1') + pod('a') + pod('b'));
    expect([evict('a'), evict('b')]).toEqual([201, 429]);
    await time.runUntil(addDuration(time.now(), minutes(1)));
    expect(evict('b')).toBe(429);
  });

  it('counts percentages from the replicas of the owner, so that a pod that went is missed', async () => {
    const owned = ', ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: u1, controller: true }]';
    const replicaSet =
      '    - { apiVersion: apps/v1, kind: ReplicaSet, metadata: { namespace: prod, name: rs, uid: u1 }, spec: { replicas: 4 } }\n';
    const { world, evict, time } = await start(
      replicaSet + budget('maxUnavailable: "25%"') + ['a', 'b', 'c', 'd'].map(name => pod(name, owned)).join(''),
    );
    expect(statusOf(world)).toMatchObject({ disruptionsAllowed: 1, expectedPods: 4, desiredHealthy: 3 });
    expect(evict('a')).toBe(201);
    await time.runUntil(addDuration(time.now(), minutes(5)));
    expect(statusOf(world)).toMatchObject({ disruptionsAllowed: 0, expectedPods: 4, currentHealthy: 3 });
    expect(evict('b')).toBe(429);
  });

  it('counts an owner as long as it has a pod', async () => {
    const ownedBy = (uid: string) =>
      `, ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: ${uid}, uid: ${uid}, controller: true }]`;
    const { world, time } = await start(
      budget('maxUnavailable: 1') + pod('a', ownedBy('old')) + pod('b', ownedBy('old')) + pod('c', ownedBy('new')),
    );
    const expectedAfter = async (name: string): Promise<unknown> => {
      world.core.delete({ type: { group: '', version: 'v1', resource: 'pods' }, namespace: 'prod', name });
      await time.runUntil(addDuration(time.now(), minutes(1)));
      return statusOf(world);
    };
    expect(await expectedAfter('a')).toMatchObject({ expectedPods: 3, disruptionsAllowed: 0 });
    expect(await expectedAfter('b')).toMatchObject({ expectedPods: 1, disruptionsAllowed: 1 });
  });

  it('lets the budget breathe again when a new pod is ready', async () => {
    const { world, time, evict } = await start(budget('maxUnavailable: 1') + pod('a') + pod('b'));
    expect(evict('a')).toBe(201);
    await time.runUntil(addDuration(time.now(), seconds(1)));
    expect(evict('b')).toBe(429);
    const [replacement] = scenario(`  objects:\n${pod('c')}`).objects;
    if (replacement !== undefined) world.apply(replacement.manifest);
    await time.runUntil(addDuration(time.now(), seconds(1)));
    expect(evict('b')).toBe(201);
  });

  it('forgets a granted eviction whose pod stays after two minutes', async () => {
    const status = 'status: { disruptedPods: { a: "2024-11-01T15:00:00Z" } }';
    const held = budget('minAvailable: 1').replace(' } }\n', ` }, ${status} }\n`);
    const { world, time } = await start(held + pod('a') + pod('b'));
    expect(statusOf(world)).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
    await time.runUntil(addDuration(time.now(), minutes(3)));
    expect(statusOf(world)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  });

  it('does not count pods that are not ready or have finished', async () => {
    const notReady = pod('b').replace(
      'spec: { nodeName: n1 } }',
      'spec: { nodeName: n1 }, status: { phase: Running, conditions: [{ type: Ready, status: "False" }] } }',
    );
    const finished = pod('c').replace(
      'spec: { nodeName: n1 } }',
      'spec: { nodeName: n1 }, status: { phase: Succeeded } }',
    );
    const { world } = await start(budget('minAvailable: 1') + pod('a') + notReady + finished);
    expect(statusOf(world)).toMatchObject({ currentHealthy: 1, expectedPods: 2, disruptionsAllowed: 0 });
  });
});
