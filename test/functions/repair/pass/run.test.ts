/** When passes take place: one at a time, with nothing lost that is asked for meanwhile. */
import { describe, expect, it } from 'vitest';
import type { Identity } from '../../../../runtime/permissions/ports.ts';
import type { InboxMessage } from '../../../../shared/contract/inbox-message.ts';
import { addDuration, hours, minutes, seconds } from '../../../../shared/domain/time.ts';
import { deployedIdentity } from '../../../fakes/deployed-identity.ts';
import { joinTime } from '../../../../functions/repair/pass/burst.ts';
import { createRepairWorld, seedPool, type RepairWorld } from '../../../fakes/repair-world.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';

const LADDER = [
  { type: 'Reboot', timeout: '5m' },
  { type: 'Terminate', timeout: '5m' },
];
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index + 1}`);
const verbs = (world: RepairWorld): string[] => world.writes.map(({ verb, ref }) => `${verb} ${ref.name}`);
const poolRecord = (world: RepairWorld) => world.store.all().find(({ id }) => id === 'pool/default');

function nodeChanged(world: RepairWorld, name: string): Extract<InboxMessage, { kind: 'clusterEvent' }> {
  const { uid, resourceVersion } = world.node(name).metadata;
  return clusterEvent({
    subject: { apiVersion: 'v1', kind: 'Node', name, uid },
    resourceVersion,
    changed: ['conditions'],
    hints: { nodePool: 'default' },
  });
}

/** A pool of `size` nodes, of which `ill` fell ill ten minutes ago. */
function illWorld(size: number, ill: number, identity?: Identity): RepairWorld {
  const world = createRepairWorld(identity);
  seedPool(world, namesOf(size));
  for (const name of namesOf(ill)) world.setCondition(name, 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

describe('a pass that is under way', () => {
  it('is not overtaken by one that is asked for meanwhile, which follows it', async () => {
    const world = illWorld(5, 1);
    world.beforeNextIntent(async () => {
      world.advance(seconds(3));
      await world.reconcile(nodeChanged(world, 'n3'));
    });
    await world.look('n1');
    expect(verbs(world)).toEqual(['patch claim-n1', 'delete claim-n1']);
    // It looked once, in spite of the request.
    expect(world.listed()).toBe(1);
    expect(poolRecord(world)?.state).not.toHaveProperty('underWay');
    expect(poolRecord(world)?.nextWakeTime).toBe(world.now());
    const before = world.listed();
    await world.sweep();
    expect(world.listed()).toBe(before + 1);
  });

  it('keeps no other pass waiting when it fails', async () => {
    const world = illWorld(5, 1);
    await world.look('n2');
    const calls = await countCalls(() => illWorld(5, 1));
    for (let call = 1; call <= calls; call++) {
      const failing = illWorld(5, 1);
      await failing.look('n1', { call, side: 'before' });
      failing.advance(seconds(2));
      await failing.look('n1');
      failing.advance(minutes(1));
      await failing.sweep();
      expect(verbs(failing).filter(verb => verb === 'delete claim-n1')).toHaveLength(1);
    }
  });

  it('that died is made up for after a minute', async () => {
    const world = illWorld(5, 1);
    await world.look('n1');
    const record = poolRecord(world);
    expect(record).toBeDefined();
    if (record === undefined) return;
    const state = { ...record.state, attempts: [], underWay: true, passTime: world.now() };
    await world.store.put({ ...record, state }, record.version);
    const before = world.listed();
    await world.reconcile(nodeChanged(world, 'n3'));
    expect(world.listed()).toBe(before);
    expect(poolRecord(world)?.state).toMatchObject({ changed: true });
    world.advance(minutes(1));
    await world.reconcile(nodeChanged(world, 'n3'));
    expect(world.listed()).toBe(before + 1);
  });
});

async function countCalls(make: () => RepairWorld): Promise<number> {
  return make().look('n1');
}

describe('a pool that was looked at a moment ago', () => {
  it('is looked at again when its second is over, although its timer is due: that would ring at once, again and again', async () => {
    const world = illWorld(10, 5);
    await world.look('n1');
    const record = poolRecord(world);
    if (record === undefined) throw new Error('five of ten are blocked');
    const { version, ...rest } = record;
    await world.store.put({ ...rest, nextWakeTime: world.now() }, version);
    world.wakeUps.length = 0;
    await world.reconcile(nodeChanged(world, 'n7'));
    const next = addDuration(world.now(), seconds(1));
    expect(poolRecord(world)?.nextWakeTime).toBe(next);
    expect(world.wakeUps.map(({ wakeUp, delay }) => [wakeUp.wakeTime, delay])).toEqual([[next, seconds(1)]]);
  });
});

describe('a pool that holds many repairs', () => {
  it('waits a second for the rest of a burst of changes', async () => {
    const world = illWorld(240, 120);
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    world.advance(seconds(30));
    const before = world.listed();
    for (let change = 0; change < 5; change++) await world.reconcile(nodeChanged(world, 'n239'));
    expect(world.listed()).toBe(before);
    expect(poolRecord(world)?.nextWakeTime).toBe(world.now() + seconds(1));
    world.advance(seconds(1));
    await world.sweep();
    expect(world.listed()).toBe(before + 1);
  });

  it('waits the shorter the fewer it holds', async () => {
    const world = illWorld(100, 50);
    await world.look('n1');
    world.advance(seconds(30));
    const before = world.listed();
    for (let change = 0; change < 5; change++) {
      await world.reconcile(nodeChanged(world, 'n99'));
      world.advance(seconds(0.05));
    }
    world.advance(seconds(0.25));
    expect(world.listed()).toBe(before);
    await world.sweep();
    expect(world.listed()).toBe(before + 1);
    expect(poolRecord(world)?.state).not.toHaveProperty('wanted');
    expect([0, 19, 20, 50, 100, 1000].map(joinTime)).toEqual([0, 0, 200, 500, 1000, 1000]);
  });
});

describe('a calm pool, in which nothing but terminations is under way', () => {
  const change = (world: RepairWorld, name = 'n9') => world.reconcile(nodeChanged(world, name));

  it('is looked at five seconds after the first change of a burst', async () => {
    const world = illWorld(20, 2);
    await world.look('n1');
    expect(verbs(world).filter(verb => verb.startsWith('delete'))).toHaveLength(2);
    const before = world.listed();
    world.advance(seconds(30));
    const first = world.now();
    for (let each = 0; each < 4; each++) {
      await change(world);
      expect(poolRecord(world)?.nextWakeTime).toBe(addDuration(first, seconds(5)));
      world.advance(seconds(1));
    }
    await world.sweep();
    expect(world.listed()).toBe(before);
    world.advance(seconds(1));
    await world.sweep();
    expect(world.listed()).toBe(before + 1);
  });

  it('does not wait the shorter for a change while it is looked at', async () => {
    const world = illWorld(20, 2);
    await world.look('n1');
    world.advance(minutes(5));
    const passTime = world.now();
    // The first record that is written claims the pass, the second one ends it.
    world.beforeNextPut(async () => world.beforeNextPut(() => change(world)));
    await world.sweep();
    expect(poolRecord(world)?.state).not.toHaveProperty('changed');
    expect(poolRecord(world)?.nextWakeTime).toBe(addDuration(passTime, seconds(5)));
  });

  it('is looked at at once for a node that is due', async () => {
    const world = illWorld(20, 1);
    await world.look('n1');
    world.setCondition('n2', 'NetworkUnavailable', 'True');
    await world.look('n2');
    world.advance(minutes(10));
    await change(world);
    await world.look('n2');
    expect(verbs(world)).toContain('delete claim-n2');
  });

  it.each([
    ['holds a repair', { maxConcurrentRepairs: 1 }, {}],
    ['has another action to take', { actions: LADDER }, {}],
    ['shares a limit with others', {}, { repairLimits: { maxConcurrentRepairsPerCluster: 5 } }],
  ])('is not one that %s', async (_, repair, spec) => {
    const world = createRepairWorld();
    seedPool(world, namesOf(20), { defaultTolerationDuration: '10m', ...repair });
    world.seed({ apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name: 'all' }, spec });
    for (const name of ['n1', 'n2']) world.setCondition(name, 'Ready', 'False');
    world.advance(minutes(10));
    await world.look('n1');
    expect(poolRecord(world)?.state['attempts']).not.toEqual([]);
    world.advance(seconds(30));
    const before = world.listed();
    await change(world);
    expect(world.listed()).toBe(before + 1);
  });
});

describe('a pool in which nothing is due any more', () => {
  it('is looked at twice before its record goes, and not again and again while others need it', async () => {
    const quiet = illWorld(5, 2);
    await quiet.look('n1');
    const lists = quiet.listed();
    for (const name of ['n1', 'n2']) quiet.setCondition(name, 'NetworkUnavailable', 'False');
    quiet.advance(minutes(5));
    await quiet.sweep();
    expect(poolRecord(quiet)).toBeUndefined();
    expect(quiet.listed()).toBe(lists + 2);

    const busy = illWorld(5, 2);
    await busy.look('n1');
    for (const name of ['n1', 'n2']) busy.setCondition(name, 'NetworkUnavailable', 'False');
    busy.advance(minutes(5));
    busy.beforeNextDelete(() => busy.reconcile(nodeChanged(busy, 'n3')));
    await busy.sweep();
    expect(busy.listed()).toBe(lists + 2);
    expect(poolRecord(busy)?.nextWakeTime).toBe(busy.now() + seconds(1));
    busy.advance(seconds(1));
    await busy.sweep();
    expect(poolRecord(busy)).toBeUndefined();
  });
});

describe('nodes that are due at once', () => {
  it('cost one look at their pool, and none at each of them', async () => {
    const world = createRepairWorld();
    seedPool(world, namesOf(120));
    for (const name of namesOf(20)) {
      world.setCondition(name, 'NetworkUnavailable', 'True');
      await world.look(name);
    }
    world.advance(minutes(10));
    await world.look('n1');
    const lists = world.listed();
    // Record, pool's record and the write: nothing of the cluster.
    for (const name of namesOf(20).slice(1)) expect(await world.look(name)).toBeLessThanOrEqual(5);
    expect(world.listed()).toBe(lists);
    world.advance(hours(1));
    await world.sweep();
    expect(verbs(world).filter(verb => verb.startsWith('delete'))).toHaveLength(20);
  });

  it('write nothing while the pass of the first one is under way, and are looked after when it is over', async () => {
    const world = createRepairWorld();
    seedPool(world, namesOf(20));
    for (const name of ['n1', 'n2', 'n3']) {
      world.setCondition(name, 'NetworkUnavailable', 'True');
      await world.look(name);
    }
    world.advance(minutes(10));
    const timerOf = (name: string) =>
      world.store.all().find(({ id }) => id === `node/${world.node(name).metadata.uid}`)?.nextWakeTime;
    const due = world.now();
    const calls: number[] = [];
    world.beforeNextIntent(async () => {
      for (const name of ['n2', 'n3']) {
        const before = world.store.all();
        calls.push(await world.look(name));
        expect(world.store.all()).toEqual(before);
      }
    });
    await world.look('n1');
    // Node and pool; then the node alone, for this process knows of the pass.
    expect(calls).toEqual([2, 1]);
    expect(verbs(world).filter(verb => verb.startsWith('delete'))).toHaveLength(3);
    expect([timerOf('n2'), timerOf('n3')]).toEqual([due, due]);
    world.advance(minutes(1));
    await world.sweep();
    expect([timerOf('n2'), timerOf('n3')]).toEqual([world.now() + minutes(15), world.now() + minutes(15)]);
    expect(verbs(world).filter(verb => verb.startsWith('delete'))).toHaveLength(3);
  });

  it('are recorded as Events once all of them are repaired', async () => {
    const world = illWorld(40, 3);
    const told: number[] = [];
    world.core.observe(({ verb, user }) => {
      if (verb === 'delete' && user === 'repair') told.push(world.events.length);
    });
    const before = world.events.length;
    await world.look('n1');
    expect(told).toEqual([before, before, before]);
    expect(world.events.slice(before).filter(({ reason }) => reason === 'NodeRepairStarted')).toHaveLength(6);
  });

  it('are not looked at for each change of their NodeClaims', async () => {
    const used: string[] = [];
    const world = illWorld(40, 3, { ...deployedIdentity('repair'), onUse: permission => used.push(permission) });
    await world.look('n1');
    const change = async (claim: string, nodeName: string): Promise<readonly string[]> => {
      used.length = 0;
      const { event } = nodeChanged(world, nodeName);
      const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: claim, uid: 'uid' } as const;
      const hints = { nodePool: 'default', nodeName };
      await world.reconcile({ kind: 'clusterEvent', event: { ...event, subject, hints } });
      return used.filter(permission => permission.startsWith('get nodes'));
    };
    expect(await change('claim-n1', 'n1')).toEqual([]);
    expect(await change('claim-n9', 'n9')).toHaveLength(1);
  });
});
