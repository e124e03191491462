/** A pass that fails while it clears up says so. */
import { describe, expect, it, vi } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';
import { createRepairWorld, seedPool } from '../../fakes/repair-world.ts';

function dueWorld() {
  const world = createRepairWorld();
  const policies = [{ conditionType: 'NetworkUnavailable', toleration: '10m' }];
  const actions = [{ type: 'Reboot', timeout: '30m' }, { type: 'Terminate' }];
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], { policies, actions });
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

describe('a pass', () => {
  it('fails where what a refused act has set cannot be taken back', async () => {
    const world = dueWorld();
    world.cloud.outcome = { kind: 'refused', reason: 'IncorrectInstanceState', message: 'it is stopped' };
    const patch = world.core.patch.bind(world.core);
    vi.spyOn(world.core, 'patch').mockImplementation((ref, change, options) => {
      if (JSON.stringify(change.body).includes('"unschedulable":null')) throw new TypeError('a mistake of ours');
      return patch(ref, change, options);
    });
    await expect(world.look('n1')).rejects.toThrow('a mistake of ours');
  });
});

describe('a pool whose record cannot be read', () => {
  const LABEL = 'karpenter.sh/nodepool';
  /** Five nodes of `default`; `a-1` is of `broken`, or was of `default` and is of `broken` now. */
  async function aWorld() {
    const world = createRepairWorld();
    seedPool(world, ['a-1', 'n1', 'n2', 'n3', 'n4', 'n5']);
    world.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'broken' }, spec: { repair: {} } });
    const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'broken', uid: 'broken' };
    const record = {
      owner: 'repair',
      id: 'pool/broken',
      subject,
      schemaVersion: 2,
      state: { inFlight: 'a mistake' },
    } as const;
    await world.store.put(record, 0);
    world.setCondition('a-1', 'NetworkUnavailable', 'True');
    return world;
  }
  type World = Awaited<ReturnType<typeof aWorld>>;
  const move = (world: World): void => {
    for (const [type, name] of [
      [RESOURCES.Node, 'a-1'],
      [RESOURCES.NodeClaim, 'claim-a-1'],
    ] as const)
      world.core.patch(
        { type, name },
        { type: 'merge', body: { metadata: { labels: { [LABEL]: 'broken' } } } },
        { user: 'x' },
      );
  };
  const deleted = ({ writes }: World): readonly unknown[] =>
    writes.flatMap(({ verb, before }) => (verb === 'delete' ? (before?.metadata.name ?? []) : []));

  it('keeps no other pool from its pass after a change of settings', async () => {
    const world = await aWorld();
    world.setCondition('n1', 'NetworkUnavailable', 'True');
    move(world);
    world.advance(minutes(10));
    const subject = {
      apiVersion: 'v1',
      kind: 'ConfigMap' as const,
      namespace: 'curfew',
      name: 'curfew-config',
      uid: 'u',
    };
    await expect(world.reconcile(clusterEvent({ subject, change: 'Modified' }))).rejects.toThrow('"inFlight"');
    expect(deleted(world)).toEqual(['claim-n1']);
  });

  it('keeps no pool from its own acts that has one of its nodes on record', async () => {
    const world = await aWorld();
    world.advance(minutes(10));
    await world.look('a-1');
    world.setCondition('n1', 'NetworkUnavailable', 'True');
    move(world);
    world.advance(minutes(10));
    await expect(world.look('n1')).rejects.toThrow('"inFlight"');
    expect(deleted(world)).toEqual(['claim-a-1', 'claim-n1']);
  });
});
