/** How many terminated nodes of a pool have no node in their place. */
import { describe, expect, it } from 'vitest';
import { NEW_POOL, type PoolRecord } from '../../../../functions/repair/pool-record.ts';
import { missingNodesOf } from '../../../../functions/repair/rule/missing-nodes.ts';
import type { EpochMs } from '../../../../shared/domain/time.ts';
import { at, NOW } from '../../../builders/pool.ts';

type Termination = PoolRecord['terminations'][number];
const ended = (minute: number, given: Partial<Termination> = {}): Termination => ({
  condition: 'Ready',
  time: at(minute),
  ...given,
});
const made = (minute: number, uid = `made-${minute}`) => ({ uid, creationTime: at(minute) });

describe('a node that a repair terminated', () => {
  it.each<[string, readonly Termination[], Parameters<typeof missingNodesOf>[1], number, EpochMs | undefined]>([
    ['is none', [], [made(-60)], 0, undefined],
    ['is missing after 15 minutes', [ended(-15)], [], 1, undefined],
    ['is not missing before that', [ended(-14)], [], 0, at(1)],
    ['is not missing if a node was made since', [ended(-20)], [made(-19)], 0, undefined],
    ['is not missing if a node was made at that very moment', [ended(-20)], [made(-20)], 0, undefined],
    ['is missing if all nodes are older', [ended(-20)], [made(-21)], 1, undefined],
    ['is missing if only one of two has a node in its place', [ended(-30), ended(-20)], [made(-10)], 1, undefined],
    ['leaves the newer node to a later one', [ended(-20), ended(-30)], [made(-25), made(-15)], 0, undefined],
    ['leaves it however they are listed', [ended(-20), ended(-30)], [made(-15), made(-25)], 0, undefined],
    ['that ended first has the node that was made', [ended(-3), ended(-20)], [made(-2)], 0, at(12)],
    ['has its replacement', [ended(-20, { isReplaced: true })], [], 0, undefined],
    ['leaves no place while it is there', [ended(-20, { node: 'u' })], [made(-60, 'u')], 0, undefined],
    ['leaves one once it is gone', [ended(-20, { node: 'u' })], [made(-60, 'v')], 1, undefined],
    ['is looked at when the first may be missing', [ended(-3), ended(-5), ended(-20)], [], 1, at(10)],
  ])('%s', (_, terminations, nodes, missing, nextMissingTime) => {
    expect(missingNodesOf({ ...NEW_POOL, terminations }, nodes, NOW)).toEqual({ missing, nextMissingTime });
  });
});
