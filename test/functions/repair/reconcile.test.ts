import { describe, expect, it } from 'vitest';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { hours, minutes, seconds } from '../../../shared/domain/time.ts';
import type { Identity } from '../../../runtime/permissions/ports.ts';
import { createRepairWorld, seedPool, type Crash, type RepairWorld } from '../../fakes/repair-world.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';

const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';
const claimOf = (world: RepairWorld, node: string) =>
  world.core.get({ type: RESOURCES.NodeClaim, name: `claim-${node}` });
const verbs = (world: RepairWorld): string[] =>
  world.writes.map(({ verb, ref }) => `${verb} ${ref.type.resource}/${ref.name}`);

/** The event of a node whose conditions changed. */
function nodeChanged(world: RepairWorld, name: string, nodePool: string | undefined, resync = false): InboxMessage {
  const { uid, resourceVersion } = world.node(name).metadata;
  return clusterEvent({
    subject: { apiVersion: 'v1', kind: 'Node', name, uid },
    resourceVersion,
    changed: resync ? [] : ['conditions'],
    resync,
    hints: nodePool === undefined ? {} : { nodePool },
  });
}

const poolRecord = (world: RepairWorld) =>
  world.store.all().find(({ id }) => id.startsWith('pool/') || id === 'cluster');

const nodeRecord = (world: RepairWorld, name: string) =>
  world.store.all().find(({ id }) => id === `node/${world.node(name).metadata.uid}`);

/** A pool of five with one node whose network went away at the start. */
function sickWorld(identity?: Identity): RepairWorld {
  const world = createRepairWorld(identity);
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  return world;
}

describe('a repair', () => {
  it('arms a timer for the due time, and acts then and not before', async () => {
    const world = sickWorld();
    await world.look('n1');
    expect(world.wakeUps).toMatchObject([
      { wakeUp: { owner: 'repair', subject: { kind: 'NodePool', name: 'default' } }, delay: minutes(10) },
    ]);
    expect(poolRecord(world)?.nextWakeTime).toBe(world.now() + minutes(10));

    world.advance(minutes(10));
    await world.look('n1');
    expect(verbs(world)).toEqual(['patch nodeclaims/claim-n1', 'delete nodeclaims/claim-n1']);
    expect(claimOf(world, 'n1').metadata).toMatchObject({
      annotations: { [ANNOTATION]: '2024-11-01T15:12:48Z' },
      deletionTimestamp: '2024-11-01T15:12:48Z',
    });
    expect(world.audit.at(-1)).toMatchObject({
      function: 'repair',
      decision: 'repair',
      name: 'n1',
      reason: 'TolerationElapsed',
    });
    expect(world.events.map(({ reason, about }) => `${reason} ${about.kind}`)).toEqual([
      'NodeRepairScheduled Node',
      'NodeRepairStarted Node',
      'NodeRepairStarted NodeClaim',
    ]);
  });

  it('ends a replacement that no record knows, once its Node is published again', async () => {
    const world = createRepairWorld();
    seedPool(world, ['n1', 'n2', 'n3']);
    const gone = '126e169d-6397-4685-8429-41aba1b45091';
    const annotations = { 'curfew.dev/replaces': gone, 'karpenter.sh/do-not-disrupt': 'true' };
    const claim = { ...world.core.get({ type: RESOURCES.NodeClaim, name: 'claim-n2' }) };
    const name = 'default-curfew-5abfcae9';
    const { metadata: _, ...others } = claim;
    world.core.seed({ ...others, metadata: { name, labels: claim.metadata.labels ?? {}, annotations } });
    world.core.delete({ type: RESOURCES.NodeClaim, name: 'claim-n2' });
    world.core.patch({ type: RESOURCES.Node, name: 'n2' }, { type: 'merge', body: { metadata: { annotations } } });
    await world.reconcile(nodeChanged(world, 'n2', 'default', true));
    expect(verbs(world)).toEqual(['patch nodes/n2', `patch nodeclaims/${name}`]);
    expect(world.core.get({ type: RESOURCES.NodeClaim, name }).metadata.annotations).toBeUndefined();
    expect(world.audit.map(line => `${line.reason} ${line.name}`)).toEqual([
      `ReplacementKept ${gone}`,
      `NodeGone ${gone}`,
    ]);
    expect(world.store.all().filter(({ id }) => id.startsWith('node/'))).toEqual([]);
  });

  it('looked at again and again changes nothing more', async () => {
    const world = sickWorld();
    world.advance(minutes(10));
    for (let look = 0; look < 5; look++) await world.look('n1');
    world.advance(minutes(30));
    await world.look('n1');
    expect(verbs(world)).toEqual(['patch nodeclaims/claim-n1', 'delete nodeclaims/claim-n1']);
  });

  // A record without a timer stays where a deletion was missed.
  it('keeps a timer with every record that it writes', async () => {
    const world = sickWorld();
    await world.look('n1');
    const kept = (isTimed: boolean): readonly string[] =>
      world.store
        .all()
        .filter(({ id, nextWakeTime }) => id !== 'configuration' && (nextWakeTime !== undefined) === isTimed)
        .map(({ id }) => id)
        .toSorted();
    const records = [`node/${world.node('n1').metadata.uid}`, 'pool/default', 'round/pass/default'];
    expect({ timed: kept(true), timeless: kept(false) }).toEqual({ timed: records, timeless: [] });
    world.advance(minutes(10));
    await world.look('n1');
    expect({ timed: kept(true), timeless: kept(false) }).toEqual({ timed: records, timeless: [] });
  });

  it('is dropped with its timer when the node recovers, and forgotten within a day or so', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.advance(minutes(10));
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    expect(poolRecord(world)).toBeUndefined();
    await world.run(hours(26));
    expect(world.store.all().filter(({ id }) => id !== 'configuration')).toEqual([]);
  });

  it('starts its clock again when the condition flips', async () => {
    const world = sickWorld();
    world.advance(minutes(9));
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.advance(seconds(30));
    world.setCondition('n1', 'NetworkUnavailable', 'True');
    world.advance(minutes(9));
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    world.advance(minutes(1));
    await world.look('n1');
    expect(verbs(world)).toHaveLength(2);
  });

  it('I10 never reaches another node of the same name', async () => {
    const world = sickWorld();
    await world.look('n1');
    const { uid } = world.node('n1').metadata;
    world.core.delete({ type: RESOURCES.Node, name: 'n1' });
    world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    world.advance(minutes(10));
    await world.reconcile({
      kind: 'wakeUp',
      owner: 'repair',
      subject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid },
      wakeTime: world.now(),
    });
    expect(verbs(world)).toEqual([]);
    expect(world.store.all().filter(({ id }) => id.startsWith('node/'))).toEqual([]);
  });
});

describe('above the unhealthy threshold', () => {
  it('reports on each Node, looks again after five minutes, and goes on when the pool recovers', async () => {
    const world = sickWorld();
    world.setCondition('n2', 'NetworkUnavailable', 'True');
    world.advance(minutes(10));
    await world.look('n1');
    expect(world.events.map(({ reason, about, message }) => [reason, about.metadata.name, message])).toEqual(
      ['n1', 'n2'].map(name => [
        'NodeRepairBlocked',
        name,
        '2 of 5 nodes of NodePool default are unhealthy, repair stops above 1 (maxUnhealthy)',
      ]),
    );
    expect(poolRecord(world)?.nextWakeTime).toBe(world.now() + minutes(5));

    world.advance(seconds(30));
    world.setCondition('n2', 'NetworkUnavailable', 'False');
    await world.reconcile(nodeChanged(world, 'n2', 'default'));
    // One that has just come back counts for five minutes more.
    expect(verbs(world)).toEqual([]);
    expect(world.audit).toContainEqual(
      expect.objectContaining({ decision: 'blocked', reason: 'Settling', name: 'n1' }),
    );
    await world.run(seconds(299));
    expect(verbs(world)).toEqual([]);
    await world.run(seconds(1));
    expect(verbs(world)).toEqual(['patch nodeclaims/claim-n1', 'delete nodeclaims/claim-n1']);
  });

  it('costs one pass for a burst of changes', async () => {
    const world = sickWorld();
    world.setCondition('n2', 'NetworkUnavailable', 'True');
    world.advance(minutes(10));
    await world.look('n1');
    world.advance(seconds(30));
    let lists = 0;
    const count = async (work: () => Promise<void>): Promise<number> => {
      lists = world.listed();
      await work();
      return world.listed() - lists;
    };
    const burst = (): Promise<void> => world.reconcile(nodeChanged(world, 'n3', 'default'));
    expect(await count(burst)).toBeGreaterThan(0);
    expect(
      await count(async () => {
        for (let index = 0; index < 20; index++) await burst();
      }),
    ).toBe(0);
    // The others are served by one pass a second later.
    const round = world.store.all().find(({ id }) => id === 'round/pass/default');
    expect(round?.nextWakeTime).toBe(world.now() + seconds(1));
    // It lists the pool, and the cluster for freeze and zone.
    expect(await count(() => world.run(seconds(1)).then(() => undefined))).toBe(2);
  });
});

describe('a healthy node that is only published again, while a repair is blocked', () => {
  it('costs no pass', async () => {
    const world = sickWorld();
    world.setCondition('n2', 'NetworkUnavailable', 'True');
    world.advance(minutes(10));
    await world.look('n1');
    world.advance(seconds(30));
    const lists = world.listed();
    await world.reconcile(nodeChanged(world, 'n3', 'default', true));
    expect(world.listed()).toBe(lists);
  });
});

describe('the second look', () => {
  it('judges a node by the rules and the NodeClaim as they are by then', async () => {
    const world = sickWorld();
    world.advance(minutes(10));
    world.beforeNextIntent(async () => {
      const body = { metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } };
      world.core.patch({ type: RESOURCES.NodeClaim, name: 'claim-n1' }, { type: 'merge', body }, { user: 'somebody' });
    });
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    expect(poolRecord(world)?.state).toMatchObject({ inFlight: {} });
    expect(nodeRecord(world, 'n1')?.state).not.toHaveProperty('attempt');
    world.advance(seconds(1));
    await world.sweep();
    expect(world.audit.at(-1)).toMatchObject({ decision: 'vetoed', name: 'n1' });
  });
});

describe('a healthy node of which nothing is recorded', () => {
  it('costs the reads of the node, its record, the rules and two pools, and no list of nodes', async () => {
    const world = sickWorld();
    await world.look('n1');
    const lists = world.listed();
    expect(await world.look('n2')).toBe(6);
    expect(world.listed()).toBe(lists);
  });
});

describe('above the threshold of the cluster, for nodes without a NodePool', () => {
  const clusterWorld = (): RepairWorld => {
    const world = createRepairWorld();
    seedPool(world, ['n1', 'n2', 'n3']);
    world.seed({
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'all' },
      spec: { repair: {} },
    });
    for (const name of ['alone', 'unmanaged']) {
      const providerID = `aws:///us-west-2a/i-${name}`;
      world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { providerID } });
    }
    const status = { providerID: 'aws:///us-west-2a/i-alone', nodeName: 'alone' };
    world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name: 'claim-alone' }, status });
    return world;
  };
  it.each([
    ['a node of some NodePool', 'n2', 'default'],
    ['a node that has no NodeClaim, and of which nothing is recorded', 'unmanaged', undefined],
  ])('goes on when %s recovers', async (_, other, pool) => {
    const world = clusterWorld();
    world.setCondition('alone', 'Ready', 'False');
    world.setCondition(other, 'Ready', 'False');
    world.advance(minutes(60));
    await world.look('alone');
    expect(world.audit).toContainEqual(expect.objectContaining({ decision: 'blocked', name: 'alone' }));
    world.advance(seconds(30));
    world.setCondition(other, 'Ready', 'True');
    await world.reconcile(nodeChanged(world, other, pool));
    expect(world.audit).toContainEqual(
      expect.objectContaining({ decision: 'blocked', reason: 'Settling', name: 'alone' }),
    );
    await world.run(minutes(5));
    expect(verbs(world)).toEqual(['patch nodeclaims/claim-alone', 'delete nodeclaims/claim-alone']);
  });
});

describe('a node without a NodeClaim', () => {
  it('is looked at again when one with its providerID comes, be it without the name of the node', async () => {
    const world = createRepairWorld();
    seedPool(world, ['n1']);
    world.core.patch(
      { type: RESOURCES.NodeClaim, name: 'claim-n1' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
    world.core.delete({ type: RESOURCES.NodeClaim, name: 'claim-n1' });
    world.setCondition('n1', 'Ready', 'False');
    world.advance(minutes(60));
    await world.look('n1');
    expect(world.audit.at(-1)).toMatchObject({ decision: 'ignore', reason: 'NoNodeClaim' });

    world.advance(seconds(30));
    const status = { providerID: 'aws:///us-west-2a/i-n1' };
    const { metadata } = world.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'late', labels: { 'karpenter.sh/nodepool': 'default' } },
      status,
    });
    await world.reconcile(
      clusterEvent({
        change: 'Added',
        subject: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'late', uid: metadata.uid },
        resourceVersion: metadata.resourceVersion,
        changed: ['labels', 'providerID'],
        hints: { nodePool: 'default', ...status },
      }),
    );
    expect(verbs(world)).toEqual(['patch nodeclaims/late', 'delete nodeclaims/late']);
  });
});

describe('I4 and I5: a run that ends between any two calls', () => {
  /** Ends the acting run at one call, then lets the timers of the record do the rest. */
  async function replay(crash: Crash | undefined): Promise<{ world: RepairWorld; calls: number }> {
    const world = sickWorld();
    await world.look('n1');
    world.advance(minutes(10));
    const calls = await world.look('n1', crash);
    for (let wake = 0; wake < 6; wake++) {
      world.advance(seconds(60));
      await world.look('n1');
      await world.sweep();
    }
    return { world, calls };
  }

  it('is carried to its end with one accepted deletion, wherever it was', async () => {
    const { calls } = await replay(undefined);
    expect(calls).toBeGreaterThan(15);
    for (let call = 1; call <= calls; call++) {
      for (const side of ['before', 'after'] as const) {
        const { world } = await replay({ call, side });
        const deletions = verbs(world).filter(verb => verb.startsWith('delete'));
        expect({ call, side, deletions }).toEqual({ call, side, deletions: ['delete nodeclaims/claim-n1'] });
        expect(claimOf(world, 'n1').metadata.annotations?.[ANNOTATION]).toBeDefined();
        // I2: what takes protected pods stands in the audit, whoever finds out that it took place.
        const said = world.audit.filter(({ decision, name }) => decision === 'repair' && name === 'n1');
        expect({ call, side, isReported: said.length > 0 }).toEqual({ call, side, isReported: true });
      }
    }
  });

  /** What stands on the NodeClaim of a node that recovered after a run was ended at that call; undefined: it was deleted before. */
  async function annotationAfter(call: number, world: RepairWorld): Promise<{ was: unknown; is: unknown } | undefined> {
    await world.look('n1');
    world.advance(minutes(10));
    await world.look('n1', { call, side: 'after' });
    if (claimOf(world, 'n1').metadata.deletionTimestamp !== undefined) return undefined;
    const was = claimOf(world, 'n1').metadata.annotations?.[ANNOTATION];
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.advance(seconds(60));
    await world.look('n1');
    await world.sweep();
    expect(claimOf(world, 'n1').metadata.deletionTimestamp).toBeUndefined();
    return { was, is: claimOf(world, 'n1').metadata.annotations?.[ANNOTATION] };
  }

  // A take-back once wrote null over it.
  it('I7: gives a NodeClaim the deadline back that somebody had set before', async () => {
    const { calls } = await replay(undefined);
    const deadline = '2024-11-02T09:00:00Z';
    const given: unknown[] = [];
    for (let call = 1; call <= calls; call++) {
      const world = sickWorld();
      const body = { metadata: { annotations: { [ANNOTATION]: deadline } } };
      const claim = { type: RESOURCES.NodeClaim, name: 'claim-n1' };
      world.core.patch(claim, { type: 'merge', body }, { user: 'somebody' });
      const left = await annotationAfter(call, world);
      if (left === undefined) continue;
      expect({ call, is: left.is }).toEqual({ call, is: deadline });
      if (left.was !== deadline) given.push(left.was);
    }
    expect(given.length).toBeGreaterThan(0);
  });

  it('I3 and I7: leaves a node that recovered meanwhile as it was, annotation included', async () => {
    const { calls } = await replay(undefined);
    let withdrawn = 0;
    for (let call = 1; call <= calls; call++) {
      const left = await annotationAfter(call, sickWorld());
      if (left === undefined) continue;
      if (left.was !== undefined) withdrawn += 1;
      expect({ call, annotation: left.is }).toEqual({ call, annotation: undefined });
    }
    expect(withdrawn).toBeGreaterThan(0);
  });
});

describe('a NodePool that cannot be read', () => {
  it.each([
    [
      'a toleration that does not parse',
      { policies: [{ conditionType: 'Ready', toleration: '45min' }] },
      'spec.repair.policies[0].toleration: time: unknown unit "min" in duration "45min"',
    ],
    [
      'a negative toleration',
      { defaultTolerationDuration: '-5m' },
      'spec.repair.defaultTolerationDuration: must not be negative, got "-5m"',
    ],
    [
      'a repeated condition type',
      {
        policies: [
          { conditionType: 'Ready', toleration: '1m' },
          { conditionType: 'Ready', toleration: '2m' },
        ],
      },
      'must not repeat "Ready"',
    ],
    [
      'a threshold that is none',
      { maxUnhealthy: '150%' },
      'spec.repair.maxUnhealthy: must be a whole number that is not',
    ],
    ['a misspelt field', { defaultToleration: '5m' }, 'Unrecognized key: "defaultToleration"'],
  ])('%s: its author is told, its nodes are not repaired', async (_, repair, message) => {
    const world = createRepairWorld();
    seedPool(world, ['n1'], repair);
    world.setCondition('n1', 'NetworkUnavailable', 'True');
    const pool = world.core.get({ type: RESOURCES.NodePool, name: 'default' });
    await world.reconcile(
      clusterEvent({
        change: 'Added',
        subject: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid: pool.metadata.uid },
        resourceVersion: pool.metadata.resourceVersion,
      }),
    );
    expect(world.events).toMatchObject([
      {
        type: 'Warning',
        reason: 'InvalidRepairConfiguration',
        about: { kind: 'NodePool' },
        message: expect.stringContaining(message),
      },
    ]);
    expect(world.audit).toMatchObject([
      { decision: 'refuse', reason: 'InvalidRepairConfiguration', kind: 'NodePool' },
      { decision: 'refuse', reason: 'InvalidRepairConfiguration', kind: 'Node', name: 'n1' },
    ]);
    world.advance(minutes(600));
    await world.look('n1');
    expect(verbs(world)).toEqual([]);
    expect(world.audit.filter(({ kind }) => kind === 'Node')).toMatchObject([{ decision: 'refuse', name: 'n1' }]);
  });
});
