/** How often a pass judges a node: once, and again only where what it reads for due nodes alone says something of it. */
import { expect, it } from 'vitest';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { createRepairWorld, seedPool } from '../../fakes/repair-world.ts';
import { decide } from '../../../functions/repair/decide.ts';
import { decideNode, judgeNode } from '../../../functions/repair/node/decide.ts';
import { minutes } from '../../../shared/domain/time.ts';

/** n1 is due, n2 and n3 are unhealthy and not due. */
function unhealthyWorld() {
  const judged: string[] = [];
  const world = createRepairWorld(deployedIdentity('repair'), {
    decideNode,
    decide,
    judgeNode(context, node, blocked) {
      judged.push(node.name);
      return judgeNode(context, node, blocked);
    },
  });
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], { defaultTolerationDuration: '10m', maxUnhealthy: '100%' });
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  for (const name of ['n2', 'n3']) world.setCondition(name, 'NetworkUnavailable', 'True');
  return { world, judged };
}

it('judges each node once, in a pass that reads the whole cluster for a node that is due', async () => {
  const { world, judged } = unhealthyWorld();
  await world.look('n1');
  expect(world.writes.map(({ verb }) => verb)).toContain('delete');
  expect(judged.toSorted()).toEqual(['n1', 'n2', 'n3']);
});

it('judges the node again that somebody else is asked about', async () => {
  const { world, judged } = unhealthyWorld();
  const metadata = { namespace: 'medik8s-leases', name: 'node-n1' };
  const spec = { holderIdentity: 'other', renewTime: '2024-11-01T15:12:48.000000Z', leaseDurationSeconds: 600 };
  world.seed({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  await world.look('n1');
  expect(world.writes).toEqual([]);
  expect(judged.toSorted()).toEqual(['n1', 'n1', 'n2', 'n3']);
});
