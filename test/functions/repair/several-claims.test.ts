/** A node for which NodeClaims of two pools stand: the passes of both look at it. */
import { expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';
import { type Crash, createRepairWorld, seedPool } from '../../fakes/repair-world.ts';

const REPAIR = { maxUnhealthy: '100%', policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }] };
const ANOTHER = { type: RESOURCES.NodeClaim, name: 'another' };
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';

/**
 * n1 also has a NodeClaim without a pool. The run of pool `default` that terminates its NodeClaim ends at the call; the next look is for the
 * other one.
 */
async function story(crash: Crash | undefined) {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2'], REPAIR);
  for (const name of ['n1', 'n2']) world.setCondition(name, 'NetworkUnavailable', 'True');
  const { providerID } = world.core.get({ type: RESOURCES.Node, name: 'n1' }).spec ?? {};
  world.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'another' },
    status: { providerID: providerID ?? '', nodeName: 'n1' },
  });
  world.advance(minutes(10));
  const calls = await world.look('n2', crash);
  for (let minute = 0; minute < 8; minute++) {
    world.advance(minutes(1));
    const { uid } = world.core.get(ANOTHER).metadata;
    const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'another', uid } as const;
    await world.reconcile(
      clusterEvent({ subject, change: 'Modified', changed: ['status'], hints: { nodeName: 'n1' } }),
    );
    await world.sweep();
  }
  const { annotations, deletionTimestamp } = world.core.get({ type: RESOURCES.NodeClaim, name: 'claim-n1' }).metadata;
  return { calls, isDeleted: deletionTimestamp !== undefined, isMarked: annotations?.[DEADLINE] !== undefined };
}

it('I7: has no deadline on a NodeClaim that is not deleted, wherever the run ended', async () => {
  const { calls } = await story(undefined);
  const left: unknown[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const { isDeleted, isMarked } = await story({ call, side });
      if (isMarked && !isDeleted) left.push({ call, side });
    }
  }
  expect({ calls, left }).toEqual({ calls, left: [] });
});
