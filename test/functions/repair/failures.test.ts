/** A pass that fails while it clears up says so. */
import { describe, expect, it, vi } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
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
