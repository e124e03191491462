/** Where a pass fails in several places, or while it clears up, each failure reaches the log: the one that is thrown tells of all. */
import { describe, expect, it, vi } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { joinedFailure } from '../../../functions/repair/failure.ts';
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

describe('several failures', () => {
  const [slow, busy] = [new RetryableError('slow', { reason: 'Timeout', retryAfterMs: 5 }), new RetryableError('busy')];
  const refused = new TerminalError('Invalid', 'refused');

  it('are none where there is none, and one as it is', () => {
    expect(joinedFailure([])).toBeUndefined();
    expect(joinedFailure([slow])).toBe(slow);
  });

  it.each([
    ['tried again while one may pass', [refused, slow, busy], RetryableError],
    ['given up where none may', [refused, refused], TerminalError],
    ['a mistake of ours where one is', [slow, new TypeError('wrong'), refused], TypeError],
  ])('are %s, and tell of all', (_, failures, kind) => {
    const failure = joinedFailure(failures) as Error;
    expect(failure).toBeInstanceOf(kind === TypeError ? Error : kind);
    expect(failure instanceof RetryableError || failure instanceof TerminalError).toBe(kind !== TypeError);
    for (const { message } of failures) expect(failure.message).toContain(message);
    expect(failure.cause).toBe(failures.find(each => each instanceof kind));
  });

  it('keep the reason and the wait of the first that may pass', () => {
    expect(joinedFailure([slow, busy])).toMatchObject({ reason: 'Timeout', retryAfterMs: 5, outcomeUnknown: false });
    const lost = new RetryableError('lost', { outcomeUnknown: true });
    expect(joinedFailure([slow, lost])).toMatchObject({ outcomeUnknown: true });
  });
});
