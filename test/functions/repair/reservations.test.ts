/** Slots in zone and cluster, with runs that die at each step: never one too many, and none is lost. */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createRepairWorld, seedPool, type Crash, type RepairWorld } from '../../fakes/repair-world.ts';

const OPEN = { maxUnhealthy: '100%', freeze: 'Off', zoneOutage: 'Off', defaultTolerationDuration: '10m' };
const ONE = { maxConcurrentRepairsPerCluster: 1 };

const policy = (repairLimits: JsonObject | 'none'): KubernetesManifest => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name: 'all' },
  spec: repairLimits === 'none' ? {} : { repairLimits },
});

/** Nodes n1 and n2 of NodePool `default`, g1 of `gpu`, and well ones; the first three are due, n1 for longest. */
function aWorld(limits: JsonObject | 'none' = ONE): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3'], OPEN);
  const labels = { 'karpenter.sh/nodepool': 'gpu' };
  const providerID = 'aws:///us-west-2a/i-g1';
  world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'gpu' }, spec: { repair: OPEN } });
  world.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'claim-g1', labels, finalizers: ['karpenter.sh/termination'] },
    status: { providerID, nodeName: 'g1' },
  });
  world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'g1', labels }, spec: { providerID } });
  world.seed(policy(limits));
  for (const name of ['n1', 'g1', 'n2']) {
    world.setCondition(name, 'Ready', 'False');
    world.advance(seconds(1));
  }
  world.advance(minutes(10));
  return world;
}

const shared = (world: RepairWorld) => world.store.all().find(({ id }) => id === 'concurrent-repairs');
const reservedIn = (world: RepairWorld): readonly unknown[] => {
  const reservations = shared(world)?.state['reservations'];
  return Array.isArray(reservations) ? reservations.map((each: JsonObject) => each['uid']) : [];
};
const deleted = (world: RepairWorld): readonly string[] =>
  world.writes.filter(({ verb }) => verb === 'delete').map(({ ref }) => ref.name);

/** Timers as they come due, for so many minutes. */
async function goOn(world: RepairWorld, forMinutes: number): Promise<void> {
  for (let step = 0; step < forMinutes * 2; step++) {
    world.advance(seconds(30));
    await world.sweep();
  }
}

/** Karpenter is done with it. */
function end(world: RepairWorld, name: string): void {
  world.core.delete({ type: RESOURCES.Node, name }, { user: 'karpenter' });
  const body = { metadata: { finalizers: null } };
  world.core.patch(
    { type: RESOURCES.NodeClaim, name: `claim-${name}` },
    { type: 'merge', body },
    { user: 'karpenter' },
  );
}

describe('a slot in the cluster', () => {
  it('is taken, waited for, and given on, until all had it', async () => {
    const world = aWorld();
    for (const name of ['n1', 'g1', 'n2']) await world.look(name);
    expect(deleted(world)).toEqual(['claim-n1']);
    expect(reservedIn(world)).toEqual([world.node('n1').metadata.uid]);
    end(world, 'n1');
    await goOn(world, 6);
    const [, second = ''] = deleted(world);
    expect(deleted(world)).toEqual(['claim-n1', second]);
    end(world, second.replace('claim-', ''));
    await goOn(world, 6);
    const [, , third = ''] = deleted(world);
    expect(deleted(world)).toEqual(['claim-n1', second, third]);
    expect([second, third].toSorted()).toEqual(['claim-g1', 'claim-n2']);
    end(world, third.replace('claim-', ''));
    await goOn(world, 12);
    expect(shared(world)).toBeUndefined();
  });

  // The cluster for its size and the pools for their names, the record, and the record of each other pool that has some in flight.
  it('costs two lists, two reads and a write more than none, and nothing where no policy has limits', async () => {
    const callsOf = async (limits: JsonObject | 'none'): Promise<number> => {
      const world = aWorld(limits);
      for (const name of ['n1', 'g1', 'n2']) await world.look(name);
      world.setCondition('n3', 'Ready', 'False');
      await world.look('n3');
      world.advance(minutes(10));
      const calls = await world.look('n3');
      expect(deleted(world)).toHaveLength(4);
      return calls;
    };
    expect((await callsOf({ maxConcurrentRepairsPerCluster: 9 })) - (await callsOf('none'))).toBe(5);
  });

  it('counts anew when a limit is set, and calls off what was reserved without one', async () => {
    const world = aWorld('none');
    const limit = (): void => {
      const body = { spec: { repairLimits: ONE } };
      world.core.patch({ type: RESOURCES.NodeLifecyclePolicy, name: 'all' }, { type: 'merge', body }, { user: 'a' });
    };
    world.beforeNextIntent(async () => limit());
    await world.look('n1');
    expect(deleted(world)).toEqual([]);
    await goOn(world, 1);
    expect(deleted(world)).toEqual(['claim-n1']);

    const later = aWorld('none');
    await later.look('n1');
    expect(deleted(later)).toEqual(['claim-n1', 'claim-n2']);
    expect(shared(later)).toBeUndefined();
    later.core.patch(
      { type: RESOURCES.NodeLifecyclePolicy, name: 'all' },
      { type: 'merge', body: { spec: { repairLimits: ONE } } },
      { user: 'a' },
    );
    await later.look('g1');
    expect(deleted(later)).toEqual(['claim-n1', 'claim-n2']);
    expect(reservedIn(later)).toHaveLength(2);
  });

  const stored = (world: RepairWorld, state: JsonObject) => ({
    owner: 'repair' as const,
    id: 'concurrent-repairs',
    subject: { apiVersion: 'curfew.dev/v1alpha1', kind: 'Round', name: 'concurrent-repairs' },
    state,
    nextWakeTime: world.now(),
  });
  const basisOf = (world: RepairWorld): string => {
    const { uid, generation } = world.core.get({ type: RESOURCES.NodeLifecyclePolicy, name: 'all' }).metadata;
    return `${uid}@${generation ?? 0}`;
  };

  it('that no pool needs is found within minutes, and those who wait for it go on', async () => {
    const world = aWorld();
    const { uid } = world.node('n3').metadata;
    const ghost = { uid, pool: 'ghost', since: world.now() };
    const basis = basisOf(world);
    const state = { schemaVersion: 1, basis, reservations: [ghost], waiting: [], freed: [], checkTime: world.now() };
    await world.store.put(stored(world, state), 0);
    await world.look('g1');
    expect(deleted(world)).toEqual([]);
    await goOn(world, 4);
    expect(deleted(world)).toEqual(['claim-g1']);
  });

  it('is given by nobody while a newer version of the function keeps the record', async () => {
    const world = aWorld();
    await world.store.put(stored(world, { schemaVersion: 3 }), 0);
    await world.look('n1');
    await goOn(world, 3);
    expect(deleted(world)).toEqual([]);
    expect(shared(world)?.state).toEqual({ schemaVersion: 3 });
  });

  describe('while a newer version of the function keeps the record of another pool', () => {
    const writeNewer = async (world: RepairWorld, name: string): Promise<void> => {
      const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name };
      const id = `pool/${name}`;
      const version = world.store.all().find(each => each.id === id)?.version ?? 0;
      const item = { owner: 'repair' as const, id, subject };
      await world.store.put({ ...item, state: { schemaVersion: 99 } }, version);
    };

    it('is not given to others, however long that takes', async () => {
      const world = aWorld();
      await world.look('n1');
      expect(deleted(world)).toEqual(['claim-n1']);
      await writeNewer(world, 'default');
      await goOn(world, 3);
      await world.look('g1');
      await goOn(world, 70);
      expect(deleted(world)).toEqual(['claim-n1']);
      expect(reservedIn(world)).toEqual([world.node('n1').metadata.uid]);
    });

    it('is given by nobody where nothing was reserved before', async () => {
      const world = aWorld();
      await writeNewer(world, 'gpu');
      await world.look('n1');
      await goOn(world, 3);
      expect(deleted(world)).toEqual([]);
    });
  });

  describe('while another pass writes in between', () => {
    const isShared = ({ id }: { readonly id: string }): boolean => id === 'concurrent-repairs';

    it('is not taken under limits that have changed since', async () => {
      const world = aWorld({ maxConcurrentRepairsPerCluster: 2 });
      world.beforeNextPut(async () => {
        const type = RESOURCES.NodeLifecyclePolicy;
        world.core.patch(
          { type, name: 'all' },
          { type: 'merge', body: { spec: { repairLimits: ONE } } },
          { user: 'a' },
        );
        await world.look('g1');
      }, isShared);
      await world.look('n1');
      expect(deleted(world)).toEqual([]);
      await goOn(world, 1);
      expect(deleted(world)).toHaveLength(1);
    });

    it('is left to a newer version that has written the record, whether it is reserved or given back', async () => {
      const newer = { schemaVersion: 3 };
      const writeNewer = (world: RepairWorld) => async (): Promise<void> =>
        void (await world.store.put(stored(world, newer), shared(world)?.version ?? 0));
      const reserving = aWorld();
      reserving.beforeNextPut(writeNewer(reserving), isShared);
      await reserving.look('n1');
      expect(deleted(reserving)).toEqual([]);
      expect(shared(reserving)?.state).toEqual(newer);

      const ending = aWorld();
      await ending.look('n1');
      for (const name of deleted(ending)) end(ending, name.replace('claim-', ''));
      ending.beforeNextDelete(writeNewer(ending));
      await goOn(ending, 1);
      expect(shared(ending)?.state).toEqual(newer);
    });

    it('is kept for the other pass when this one ends', async () => {
      const world = aWorld({ maxConcurrentRepairsPerCluster: 3 });
      world.beforeNextPut(async () => void (await world.look('g1')), isShared);
      await world.look('n1');
      expect(deleted(world).toSorted()).toEqual(['claim-g1', 'claim-n1', 'claim-n2']);
      const uids = ['n1', 'n2', 'g1'].map(name => world.node(name).metadata.uid);
      expect(new Set(reservedIn(world))).toEqual(new Set(uids));
    });

    it('is asked for anew where the record has ended since', async () => {
      const world = aWorld();
      const basis = basisOf(world);
      const state = { schemaVersion: 1, basis, reservations: [], waiting: [], freed: [], checkTime: world.now() };
      await world.store.put(stored(world, state), 0);
      world.beforeNextPut(async () => {
        await world.store.delete({ owner: 'repair', id: 'concurrent-repairs' }, shared(world)?.version ?? 0);
      }, isShared);
      await world.look('n1');
      await world.run(seconds(5));
      expect(deleted(world)).toEqual(['claim-n1']);
      expect(reservedIn(world)).toEqual([world.node('n1').metadata.uid]);
    });

    it('is kept for a pass that has reserved it and not yet written its own record, where the slots are compared', async () => {
      const world = aWorld();
      const basis = basisOf(world);
      const state = { schemaVersion: 1, basis, reservations: [], waiting: [], freed: [], checkTime: world.now() };
      await world.store.put(stored(world, state), 0);
      world.beforeNextIntent(async () => {
        const { subject } = stored(world, state);
        await world.reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: world.now(), repeated: true });
        await world.look('g1');
      });
      await world.look('n1');
      expect(deleted(world)).toEqual(['claim-n1']);
    });

    it('is not there to be given back where the record has ended since', async () => {
      const world = aWorld();
      await world.look('n1');
      const { uid } = world.node('n1').metadata;
      end(world, 'n1');
      world.advance(seconds(2));
      world.beforeNextPut(async () => {
        await world.store.delete({ owner: 'repair', id: 'concurrent-repairs' }, shared(world)?.version ?? 0);
      }, isShared);
      await world.look('n1', undefined, uid);
      await goOn(world, 6);
      expect(deleted(world)).toHaveLength(2);
    });

    it('is given back without what the other one has reserved', async () => {
      const world = aWorld({ maxConcurrentRepairsPerCluster: 2 });
      world.core.patch(
        { type: RESOURCES.Node, name: 'n2' },
        { type: 'merge', body: { metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } } },
        { user: 'a' },
      );
      await world.look('n1');
      expect(deleted(world)).toEqual(['claim-n1']);
      const { uid } = world.node('n1').metadata;
      end(world, 'n1');
      world.advance(seconds(2));
      world.beforeNextDelete(() => world.look('g1'));
      await world.look('n1', undefined, uid);
      await goOn(world, 1);
      expect(deleted(world)).toEqual(['claim-n1', 'claim-g1']);
      expect(reservedIn(world)).toEqual([world.node('g1').metadata.uid]);
    });
  });

  const sides = ['before', 'after'] as const;
  it.each(sides)('is neither lost nor given twice when the run of a repair dies %s any of its calls', async side => {
    for (let call = 1; ; call++) {
      const world = aWorld();
      const calls = await world.look('n1', { call, side } satisfies Crash);
      await world.look('g1');
      await goOn(world, 1);
      // The inbox hands the message of the run that died over again.
      for (const name of ['n1', 'n2']) await world.look(name);
      await goOn(world, 3);
      expect(deleted(world), `call ${call}`).toHaveLength(1);
      const first = deleted(world)[0] === 'claim-n1' ? 'n1' : 'g1';
      end(world, first);
      await goOn(world, 8);
      expect(deleted(world), `call ${call}`).toHaveLength(2);
      for (const name of ['n1', 'g1', 'n2'].filter(each => deleted(world).includes(`claim-${each}`) && each !== first))
        end(world, name);
      await goOn(world, 8);
      expect(deleted(world).toSorted(), `call ${call}`).toEqual(['claim-g1', 'claim-n1', 'claim-n2']);
      if (calls < call) break;
    }
  });
});
