/** What becomes of a repair where something changes after the pass has listed it (ADR 0023). */
import { describe, expect, it, vi } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createRepairWorld, seedPool, type RepairWorld } from '../../fakes/repair-world.ts';

const CLAIM = { type: RESOURCES.NodeClaim, name: 'claim-n1' };
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const VETO = 'curfew.dev/do-not-repair';

const annotate = (world: RepairWorld, annotations: Readonly<Record<string, string>>): void =>
  void world.core.patch(CLAIM, { type: 'merge', body: { metadata: { annotations } } }, { user: 'somebody' });

/** n1 is due; somebody writes these annotations on its NodeClaim between the pass' list and its first write. */
async function lookWith(world: RepairWorld, annotations: Readonly<Record<string, string>>): Promise<number> {
  world.beforeNextIntent(async () => annotate(world, annotations));
  return world.look('n1');
}

function dueWorld(repair?: object): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], repair);
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

const verbs = (world: RepairWorld): string[] => world.writes.map(({ verb }) => verb);

describe('a NodeClaim that changed since the pass has listed it', () => {
  it('is looked at again, and deleted in the same run', async () => {
    const world = dueWorld();
    await lookWith(world, { note: 'nothing of interest' });
    expect(verbs(world)).toEqual(['patch', 'delete']);
  });

  it('is left alone when somebody vetoes', async () => {
    const world = dueWorld();
    await lookWith(world, { [VETO]: 'true' });
    world.advance(seconds(2));
    await world.sweep();
    expect(verbs(world)).toEqual([]);
    expect(world.core.get(CLAIM).metadata.annotations).not.toHaveProperty([DEADLINE]);
  });

  it('I7: gives its deadline back when somebody vetoes between the deadline and the deletion', async () => {
    const world = dueWorld();
    const patch = world.core.patch.bind(world.core);
    vi.spyOn(world.core, 'patch').mockImplementation((ref, change, options) => {
      const outcome = patch(ref, change, options);
      if (JSON.stringify(change.body).includes(`"${DEADLINE}":"`)) annotate(world, { [VETO]: 'true' });
      return outcome;
    });
    await world.look('n1');
    expect(verbs(world)).toEqual(['patch']);
    world.advance(seconds(2));
    await world.run(seconds(5));
    expect(world.core.get(CLAIM).metadata.annotations).not.toHaveProperty([DEADLINE]);
    expect(world.core.get(CLAIM).metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('is left alone by a veto also where its deadline has passed already, and nothing is to be annotated', async () => {
    const world = dueWorld();
    annotate(world, { [DEADLINE]: '2024-11-01T15:00:00Z' });
    await lookWith(world, { [VETO]: 'true' });
    expect(verbs(world)).toEqual([]);
  });

  it('is deleted once where its deadline has passed already', async () => {
    const world = dueWorld();
    annotate(world, { [DEADLINE]: '2024-11-01T15:00:00Z' });
    await lookWith(world, { note: 'nothing of interest' });
    expect(verbs(world)).toEqual(['delete']);
  });
});

describe('a Node that goes while its reboot is prepared', () => {
  it('has no machine rebooted for it', async () => {
    const world = dueWorld({
      policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }],
      actions: [{ type: 'Reboot', timeout: '30m' }],
    });
    const patch = world.core.patch.bind(world.core);
    vi.spyOn(world.core, 'patch').mockImplementation((ref, change, options) => {
      if (ref.type === RESOURCES.Node) world.core.delete({ type: RESOURCES.Node, name: 'n1' });
      return patch(ref, change, options);
    });
    await world.look('n1');
    expect(world.instanceCalls.filter(call => call.startsWith('reboot'))).toEqual([]);
  });
});

describe('a NodeClaim that somebody else has deleted', () => {
  const deleted = (settings: object): RepairWorld => {
    const world = dueWorld({ policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }], ...settings });
    world.core.patch(CLAIM, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } }, { user: 'x' });
    world.core.delete(CLAIM);
    return world;
  };

  it('is given a deadline that ends it sooner', async () => {
    const world = deleted({});
    await world.look('n1');
    expect(verbs(world)).toEqual(['patch']);
    expect(world.core.get(CLAIM).metadata.annotations).toHaveProperty([DEADLINE]);
  });

  it('is left alone, and not said to be terminated by a repair, where none would', async () => {
    const world = deleted({ drainBound: 'Inherit' });
    await world.look('n1');
    await world.run(minutes(3));
    expect(verbs(world)).toEqual([]);
    expect(world.events.map(({ reason }) => reason)).not.toContain('NodeRepairStarted');
  });

  it('is not said to be, either, where it was deleted between the list and the act', async () => {
    const world = dueWorld({
      policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }],
      drainBound: 'Inherit',
    });
    world.core.patch(CLAIM, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } }, { user: 'x' });
    world.beforeNextIntent(async () => void world.core.delete(CLAIM));
    await world.look('n1');
    await world.run(minutes(3));
    expect(verbs(world)).toEqual([]);
    expect(world.events.map(({ reason }) => reason)).not.toContain('NodeRepairStarted');
  });
});

describe('what somebody writes at any instant of a run', () => {
  /** The same look with an interference before each of its calls. */
  async function atEveryCall(story: (call: number) => Promise<number>): Promise<void> {
    const calls = await story(0);
    expect(calls).toBeGreaterThan(10);
    for (let call = 1; call <= calls; call++) await story(call);
  }

  it('a veto on the NodeClaim: no deletion follows it', async () => {
    await atEveryCall(async call => {
      const world = dueWorld();
      let writesBefore = Infinity;
      world.beforeCall(call, () => {
        writesBefore = world.writes.length;
        if (world.core.get(CLAIM).metadata.deletionTimestamp === undefined) annotate(world, { [VETO]: 'true' });
      });
      const calls = await world.look('n1');
      const deletions = verbs(world).filter((verb, index) => verb === 'delete' && index >= writesBefore);
      expect({ call, deletions }).toEqual({ call, deletions: [] });
      return calls;
    });
  });

  it('that the node is well: no reboot follows where none is marked on it yet', async () => {
    await atEveryCall(async call => {
      const world = dueWorld({
        policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }],
        actions: [{ type: 'Reboot', timeout: '30m' }],
      });
      let isMarked = true;
      world.beforeCall(call, () => {
        isMarked = world.node('n1').metadata.annotations?.['curfew.dev/last-reboot'] !== undefined;
        world.setCondition('n1', 'NetworkUnavailable', 'False');
      });
      const calls = await world.look('n1');
      await world.run(minutes(2));
      const reboots = isMarked ? ['reboot aws:///us-west-2a/i-n1'] : [];
      expect({ call, calls: world.instanceCalls }).toEqual({ call, calls: reboots });
      return calls;
    });
  });

  it('a cordon: it stays when the reboot is over, unless the node was cordoned already', async () => {
    const ref = { type: RESOURCES.Node, name: 'n1' };
    await atEveryCall(async call => {
      const world = dueWorld({
        policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }],
        actions: [{ type: 'Reboot', timeout: '30m' }, { type: 'Terminate' }],
      });
      const isCordoned = (): boolean => world.node('n1').spec?.['unschedulable'] === true;
      let isTheirs = false;
      world.beforeCall(call, () => {
        isTheirs = !isCordoned();
        world.core.patch(ref, { type: 'merge', body: { spec: { unschedulable: true } } }, { user: 'somebody' });
      });
      const calls = await world.look('n1');
      await world.run(minutes(2));
      expect({ call, calls: world.instanceCalls }).toEqual({ call, calls: ['reboot aws:///us-west-2a/i-n1'] });
      world.setCondition('n1', 'NetworkUnavailable', 'False');
      await world.look('n1');
      await world.run(minutes(20));
      expect({ call, isCordoned: isCordoned() }).toEqual({ call, isCordoned: isTheirs });
      return calls;
    });
  });
});

describe('a NodeClaim that did not change', () => {
  it('is not read again: each repair costs one read less', async () => {
    const unchanged = dueWorld();
    const changed = dueWorld();
    const calls = await unchanged.look('n1');
    expect(await lookWith(changed, { note: 'nothing of interest' })).toBeGreaterThan(calls);
  });
});

describe('a repair that was reserved', () => {
  const by = { user: 'somebody' };
  const patch = (world: RepairWorld, ref: Parameters<RepairWorld['core']['patch']>[0], body: JsonObject): void =>
    void world.core.patch(ref, { type: 'merge', body }, by);
  const nodeOf = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };

  it.each<[string, (world: RepairWorld) => void]>([
    ['the node is well', world => world.setCondition('n1', 'NetworkUnavailable', 'False')],
    [
      'the gate is closed',
      world =>
        patch(
          world,
          { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' },
          { data: { 'config.toml': '[featureGates]\nnodeRepair = false\n' } },
        ),
    ],
    [
      'its block is taken away',
      world => patch(world, { type: RESOURCES.NodePool, name: 'default' }, { spec: { repair: null } }),
    ],
    [
      'its pool only observes',
      world =>
        void world.seed({
          apiVersion: 'curfew.dev/v1alpha1',
          kind: 'NodeLifecyclePolicy',
          metadata: { name: 'all' },
          spec: { mode: 'Observe' },
        }),
    ],
    [
      'another Node has its name',
      world => {
        world.core.delete({ type: RESOURCES.Node, name: 'n1' }, by);
        world.seed({ ...nodeOf, spec: { providerID: 'aws:///us-west-2a/i-n1' } });
        world.setCondition('n1', 'NetworkUnavailable', 'True');
      },
    ],
    [
      'another NodeClaim has the name of its NodeClaim',
      world => {
        const { metadata, status = {} } = world.core.get(CLAIM);
        patch(world, CLAIM, { metadata: { finalizers: null } });
        world.core.delete(CLAIM, by);
        const { name, labels = {} } = metadata;
        world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name, labels }, status });
      },
    ],
  ])('is called off where %s by then (I3, I10)', async (_, change) => {
    const world = dueWorld({ defaultTolerationDuration: '0s', futility: { repairs: 1, window: '6h' } });
    world.beforeNextIntent(async () => change(world));
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    const states = world.store.all().map(({ state }) => state);
    expect(states.filter(state => 'attempt' in state)).toEqual([]);
    for (const state of states.filter(each => 'inFlight' in each)) {
      // What was never carried out has not failed to help.
      expect(state).toMatchObject({ inFlight: {}, terminations: [] });
    }
  });

  it('I7: takes the annotation of a run that died back where it is called off', async () => {
    let takenBack = 0;
    const calls = await dueWorld().look('n1');
    for (let call = 1; call <= calls; call++) {
      const world = dueWorld();
      await world.look('n1', { call, side: 'after' });
      if (verbs(world).join() !== 'patch') continue;
      world.advance(seconds(61));
      world.beforeNextIntent(async () => world.setCondition('n1', 'NetworkUnavailable', 'False'));
      await world.look('n1');
      await world.run(seconds(5));
      expect(world.core.get(CLAIM).metadata.annotations ?? {}).not.toHaveProperty([DEADLINE]);
      takenBack += 1;
    }
    expect(takenBack).toBeGreaterThan(0);
  });

  it('leaves the drain before it alone where it is called off: its turn comes again', async () => {
    const world = dueWorld({
      defaultTolerationDuration: '10m',
      actions: [{ type: 'DrainThenTerminate', timeout: '20m' }],
    });
    await world.look('n1');
    const [request] = world.published;
    const detail = { id: request?.detail['id'], status: 'Succeeded', message: '', node: { name: 'n1' } };
    world.beforeNextIntent(async () => annotate(world, { [VETO]: 'true' }));
    world.advance(seconds(2));
    await world.reconcile({ kind: 'busEvent', id: 'e', source: 'curfew.drain', detailType: 'DrainCompleted', detail });
    expect(verbs(world)).toEqual([]);
    expect(world.published).toHaveLength(1);
  });
});
