/** Whose NodeClaims an instance is, and in whose termination it ends. */
import { describe, expect, it } from 'vitest';
import {
  endingClaim,
  nextForInstance,
  precedesDestructiveCall,
  instanceSharing,
  withoutMismatched,
} from '../../../../../functions/finalizer/termination/rule/instance.ts';
import type { KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/repair.ts';

const EARLY = '2024-11-01T15:00:00Z';
const LATE = '2024-11-01T15:01:00Z';

const object = (name: string, metadata: Partial<KubernetesObject['metadata']> = {}, status = {}): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: EARLY, ...metadata },
  status,
});
const deleted = (name: string, more: Partial<KubernetesObject['metadata']> = {}, status = {}): KubernetesObject =>
  object(name, { deletionTimestamp: EARLY, ...more }, status);
const OURS = { finalizers: ['curfew.dev/termination'] };
const REGISTERED = { nodeName: 'n1' };

describe('an instance of several NodeClaims', () => {
  it.each<[string, KubernetesObject, readonly KubernetesObject[], readonly string[], string | undefined]>([
    ['is that of all others where it lives', object('a'), [object('b'), deleted('c')], ['b', 'c'], undefined],
    ['is that of those that live where it is being deleted', deleted('a'), [object('b'), deleted('c')], ['b'], undefined], // prettier-ignore
    ['ends with another one', deleted('b'), [deleted('a')], [], 'a'],
    ['ends with it', deleted('a'), [deleted('b')], [], undefined],
    ['is its own alone', deleted('a'), [], [], undefined],
  ])('%s', (_, claim, others, sharedWith, endedWith) => {
    expect(instanceSharing(claim, others)).toEqual({ sharedWith, endedWith });
  });

  it.each<[string, readonly KubernetesObject[], string | undefined]>([
    ['no end while one lives', [deleted('a'), object('b')], undefined],
    ['the first by UID', [deleted('b'), deleted('a'), deleted('c')], 'a'],
    ['the first that was deleted', [deleted('a', { deletionTimestamp: LATE }), deleted('b')], 'b'],
    ['one with a Node before one that was deleted earlier', [deleted('a'), deleted('b', { deletionTimestamp: LATE }, REGISTERED)], 'b'], // prettier-ignore
    ['one with our finalizer before one with a Node', [deleted('a', {}, REGISTERED), deleted('b', OURS)], 'b'],
  ])('has %s', (_, claims, expected) => {
    for (const each of [claims, claims.toReversed()]) expect(endingClaim(each)?.metadata.name).toBe(expected);
  });
});

describe('Nodes of an instance', () => {
  const old = deleted('n0');
  it.each<[string, KubernetesObject, readonly KubernetesObject[], readonly string[]]>([
    ['all where the NodeClaim is being deleted', deleted('a', {}, REGISTERED), [old, object('n1')], ['n0', 'n1']],
    ['those that live where its own does', object('a', {}, REGISTERED), [old, object('n1')], ['n1']],
    ['all where its own is being deleted', object('a', {}, REGISTERED), [deleted('n1'), object('n2')], ['n1', 'n2']],
    ['all where it names none', object('a'), [old, object('n1')], ['n0', 'n1']],
    ['all where it says nothing', { ...object('a'), status: undefined } as unknown as KubernetesObject, [old], ['n0']],
  ])('are %s', (_, claim, nodes, expected) => {
    expect(withoutMismatched(claim, nodes).map(({ metadata }) => metadata.name)).toEqual(expected);
  });

  it('precede what cannot be taken back while one lives, or the end of the instance is noted down', () => {
    const instance = { number: 1, phase: 'intended', intendedTime: at(EARLY) } as const;
    expect([
      precedesDestructiveCall(undefined, [old, object('n1')]),
      precedesDestructiveCall(undefined, [old]),
      precedesDestructiveCall({}, []),
      precedesDestructiveCall({ instance }, [old]),
      precedesDestructiveCall({ instance: { ...instance, phase: 'accepted' } }, [old]),
    ]).toEqual([true, false, false, true, false]);
  });
});

it('an instance that Karpenter ends, too, is left to it for as long as there is no deadline', () => {
  const now = at(LATE);
  const observed = {
    now: addDuration(now, seconds(500)),
    providerID: 'i-1',
    look: { kind: 'here' },
    isKarpenters: true,
    deletion: now,
    deadline: undefined,
    isForced: false,
    attempt: undefined,
    ownAttempt: undefined,
    refused: undefined,
  } as const;
  expect(nextForInstance(observed)).toEqual({
    kind: 'wait',
    on: 'Karpenter ends instance i-1',
    until: addDuration(now, seconds(560)),
  });
});
