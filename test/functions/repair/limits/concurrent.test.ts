import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  freedIn,
  noneCounted,
  timerOf,
  withShare,
  wokenBy,
  type ConcurrentRepairs,
  type PoolShare,
} from '../../../../functions/repair/limits/concurrent.ts';
import { limitsInForce } from '../../../../functions/repair/limits/in-force.ts';
import { concurrentRepairsCodec } from '../../../../functions/repair/limits/record.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, type EpochMs } from '../../../../shared/domain/time.ts';
import { policiesFor, readPolicies } from '../../../../shared/policies/policy-set.ts';
import { T } from '../../../builders/repair.ts';

const share = (pool: string | undefined, uids: readonly string[], awaits: PoolShare['awaits'] = {}): PoolShare => ({
  pool,
  reservations: uids.map(uid => ({ uid, ...(pool !== undefined && { pool }), zone: uid.slice(0, 1), since: T })),
  awaits,
  isObserving: false,
});
const full = (...keys: readonly string[]): PoolShare['awaits'] =>
  Object.fromEntries(keys.map(key => [key, { since: T, most: 1 }]));
const after = (...shares: readonly PoolShare[]): ConcurrentRepairs =>
  shares.reduce((state, each) => withShare(state, each, T), noneCounted('a@1', T));

describe('the share of a pool', () => {
  it('replaces what was reserved for it, and leaves the others alone', () => {
    const state = after(share('default', ['a1', 'b1']), share('gpu', ['a2']), share('default', ['b1']));
    expect(state.reservations.map(({ uid }) => uid)).toEqual(['a2', 'b1']);
  });

  it('moves with the node', () => {
    const state = after(share('default', ['a1']), share('gpu', ['a1']));
    expect(state.reservations).toEqual([{ uid: 'a1', pool: 'gpu', zone: 'a', since: T }]);
  });

  it.each<[string, readonly PoolShare[], readonly string[]]>([
    ['a place that nobody waits for', [share('default', ['a1']), share('default', [])], []],
    ['one in the zone that somebody waits for', [share('default', ['a1']), share('gpu', [], full('zone/a')), share('default', [])], ['zone/a']], // prettier-ignore
    ['one in another zone', [share('default', ['b1']), share('gpu', [], full('zone/a')), share('default', [])], []],
    ['any, for who waits for the cluster', [share('default', ['b1']), share('gpu', [], full('cluster')), share('default', [])], ['cluster']], // prettier-ignore
    ['none where another one is taken instead', [share('default', ['a1']), share('gpu', [], full('cluster')), share('default', ['a2'])], []], // prettier-ignore
    ['none where who waited takes it', [share('default', ['a1']), share('gpu', [], full('cluster')), share('cpu', [], full('cluster')), share('gpu', ['a2'])], []], // prettier-ignore
    ['what somebody waited for and does not any more', [share('gpu', [], full('cluster')), share('cpu', [], full('cluster')), share('gpu', [])], ['cluster']], // prettier-ignore
  ])('frees %s', (_, shares, expected) => {
    const state = after(...shares);
    expect(state.freed).toEqual(expected);
    expect(timerOf(state, T)).toEqual(
      expected.length > 0 ? { wakeTime: T } : { wakeTime: addDuration(T, minutes(2)), punctual: false },
    );
  });

  it('wakes who waits for what was freed', () => {
    const waits = [share('gpu', [], full('zone/a', 'cluster')), share('cpu', [], full('zone/b')), share(undefined, [], full('cluster'))]; // prettier-ignore
    expect(wokenBy(after(share('default', ['a1']), ...waits, share('default', [])))).toEqual([undefined, 'gpu']);
  });

  it('says that it waits anew after four minutes, and not before', () => {
    const state = after(share('gpu', [], full('cluster')));
    const at = (time: EpochMs): ConcurrentRepairs => withShare(state, share('gpu', [], full('cluster')), time);
    expect(at(addDuration(T, minutes(3)))).toEqual(state);
    expect(at(addDuration(T, minutes(4))).waiting[0]?.since).toBe(addDuration(T, minutes(4)));
  });

  it('property: said twice it is said once, whatever others say; what is stored is what is read', () => {
    const uid = fc.constantFrom('a1', 'a2', 'b1', 'b2', 'c1');
    const any = fc
      .record({
        pool: fc.constantFrom('default', 'gpu', undefined),
        uids: fc.uniqueArray(uid),
        keys: fc.subarray(['cluster', 'zone/a', 'zone/b']),
      })
      .map(({ pool, uids, keys }) => share(pool, uids, full(...keys)));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), any, (shares, last) => {
        const state = after(...shares, last);
        expect(withShare(state, last, T)).toEqual(state);
        expect(freedIn(state, state)).toEqual(state.freed);
        expect(concurrentRepairsCodec.parse(concurrentRepairsCodec.toState(state))).toEqual(state);
        expect(new Set(state.reservations.map(each => each.uid)).size).toBe(state.reservations.length);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the limits in force', () => {
  const policy = (name: string, spec: JsonObject, generation = 1) => ({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', generation, creationTimestamp: '2024-11-01T15:00:00Z' },
    spec,
  });
  const edge = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: {
      name: 'edge',
      uid: 'uid',
      resourceVersion: '1',
      creationTimestamp: '2024-11-01T15:00:00Z',
      labels: { team: 'edge' },
    },
  };
  const one = { repairLimits: { maxConcurrentRepairsPerZone: 1 } };
  const selecting = (team: string): JsonObject => ({ nodePoolSelector: { matchLabels: { team } } });
  const inForce = (mode: 'Enforce' | 'Observe', ...objects: readonly ReturnType<typeof policy>[]) => {
    const set = readPolicies(objects);
    return limitsInForce(policiesFor(edge, set), set, mode);
  };

  it('are those of all policies that select the pool; all that have any are named', () => {
    const limits = inForce(
      'Enforce',
      policy('b', one, 3),
      policy('a', { ...selecting('edge'), repairLimits: {} }),
      policy('c', { ...selecting('web'), ...one }),
      policy('d', {}),
    );
    expect(limits).toEqual({
      basis: 'uid-a@1 uid-b@3 uid-c@1',
      binding: [
        { source: 'NodeLifecyclePolicy a' },
        { source: 'NodeLifecyclePolicy b', maxConcurrentRepairsPerZone: { count: 1 } },
      ],
    });
  });

  it('of a policy that observes bind those who observe', () => {
    const observing = policy('a', { mode: 'Observe', ...one });
    expect(inForce('Enforce', observing).binding).toEqual([]);
    expect(inForce('Observe', observing).binding).toHaveLength(1);
  });

  it('have a fault where one that binds cannot be read', () => {
    const bad = { repairLimits: { maxConcurrentRepairsPerZone: '150%' } };
    expect(inForce('Enforce', policy('a', bad)).fault).toBe(
      'NodeLifecyclePolicy a: spec.repairLimits.maxConcurrentRepairsPerZone: must be a whole number that is not negative, or a percentage from "0%" to "100%"',
    );
    expect(inForce('Enforce', policy('a', { ...selecting('web'), ...bad })).fault).toBeUndefined();
  });
});
