import { describe, expect, it } from 'vitest';
import {
  effectiveTermination,
  takesBackDeadline,
  terminationFault,
} from '../../../../functions/finalizer/termination/settings.ts';
import type { Deadline } from '../../../../shared/domain/termination.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { minutes, toEpochMs } from '../../../../shared/domain/time.ts';
import { FORGOTTEN_UID, readPolicies } from '../../../../shared/policies/policy-set.ts';

const object = (kind: string, name: string, spec: JsonObject): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  spec,
});
const pool = (disruption: JsonObject = {}): KubernetesObject => object('NodePool', 'web', { disruption });
const policy = (termination: JsonObject | undefined, more: JsonObject = {}): KubernetesObject =>
  object('NodeLifecyclePolicy', 'all', {
    nodePoolSelector: {},
    mode: 'Enforce',
    ...more,
    ...(termination !== undefined && { termination }),
  });
/** The NodePool of that name is gone, and no record says what it was. */
const forgotten: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'NodePool',
  metadata: { name: 'web', uid: FORGOTTEN_UID, resourceVersion: '', creationTimestamp: '' },
};
const bySelector = { nodePoolSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } };
const NAMED = { customFinalizerName: 'example.com/pool' };

describe('the termination settings of a NodePool', () => {
  it.each<[string, KubernetesObject | undefined, readonly KubernetesObject[], object]>([
    ['are none without a block', pool(), [], { kind: 'none' }],
    ['are none by a policy without one', pool(), [policy(undefined, { drain: {} })], { kind: 'none' }],
    [
      'are the defaults of a block where the NodePool names a finalizer',
      pool(NAMED),
      [],
      {
        kind: 'custom',
        source: 'NodePool web',
        settings: { finalizerName: 'example.com/pool', scope: 'NodeClaimAndNode', builtin: 'Keep', hooks: [] },
      },
    ],
    [
      'are those of the policy',
      pool(),
      [policy({ finalizerName: 'example.com/policy', scope: 'NodeOnly' })],
      {
        kind: 'custom',
        source: 'NodeLifecyclePolicy all',
        settings: { finalizerName: 'example.com/policy', scope: 'NodeOnly' },
      },
    ],
    [
      'are those of the policy under the name that the NodePool gives',
      pool(NAMED),
      [policy({ finalizerName: 'example.com/policy', scope: 'NodeOnly' })],
      {
        kind: 'custom',
        source: 'NodePool web',
        settings: { finalizerName: 'example.com/pool', scope: 'NodeOnly' },
      },
    ],
    [
      'have the grace period of the NodePool before that of the policy',
      pool({ terminationGracePeriodSeconds: 300 }),
      [policy({ terminationGracePeriod: '10m' })],
      {
        kind: 'custom',
        settings: { gracePeriod: { period: minutes(5), source: 'NodePool web', sourceUid: 'uid-web' } },
      },
    ],
    [
      'have the grace period of the policy',
      pool(),
      [policy({ terminationGracePeriod: '10m' })],
      {
        settings: { gracePeriod: { period: minutes(10), source: 'NodeLifecyclePolicy all', sourceUid: 'uid-all' } },
      },
    ],
    [
      'are those of the policy for nodes without a NodePool',
      undefined,
      [policy({ finalizerName: 'example.com/policy' })],
      { kind: 'custom', source: 'NodeLifecyclePolicy all' },
    ],
    [
      'cannot be read where the NodePool has a mistake, and nothing of it counts',
      pool({ ...NAMED, terminationGracePeriodSeconds: 'soon' }),
      [policy({})],
      { kind: 'invalid', source: 'NodePool web', gracePeriod: undefined },
    ],
    [
      'cannot be read where the policy has a mistake, and the grace period of the NodePool counts',
      pool({ terminationGracePeriodSeconds: 300 }),
      [policy({ scope: 'Everything' })],
      { kind: 'invalid', source: 'NodeLifecyclePolicy all', gracePeriod: { period: minutes(5) } },
    ],
    [
      'are not known where the NodePool is forgotten, and a policy with the block selects by labels',
      forgotten,
      [policy({}, bySelector)],
      { kind: 'invalid', source: 'NodePool web', gracePeriod: undefined, mode: 'Enforce' },
    ],
    [
      'are not known where the NodePool is forgotten, and may have been held',
      forgotten,
      [policy(undefined, { ...bySelector, mode: 'Observe' })],
      { kind: 'invalid', source: 'NodePool web' },
    ],
    [
      'are known where no other block matters',
      forgotten,
      [policy(undefined, { ...bySelector, drain: {} })],
      { kind: 'none' },
    ],
    ['are known where only a policy for all states them', forgotten, [policy({})], { kind: 'custom' }],
    ['are observed in mode Observe', pool(), [policy({}, { mode: 'Observe' })], { mode: 'Observe', isBraked: false }],
  ])('%s', (_, of, policies, expected) => {
    expect(effectiveTermination(of, readPolicies(policies))).toMatchObject(expected);
  });
});

describe('a deadline', () => {
  const by = (kind: string, name: string, sourceUid = `uid-${name}`): Deadline => ({
    time: toEpochMs(0),
    source: `${kind} ${name}`,
    sourceUid,
  });
  const ofPool = by('NodePool', 'web');
  const ofPolicy = by('NodeLifecyclePolicy', 'all');
  it.each<[string, boolean, Deadline, KubernetesObject | undefined, readonly KubernetesObject[]]>([
    ['stays while its NodePool sets one', false, ofPool, pool({ terminationGracePeriodSeconds: 540 }), []],
    ['is taken back once its NodePool sets none', true, ofPool, pool(), []],
    ['stays while its NodePool cannot be read', false, ofPool, pool({ terminationGracePeriodSeconds: 'soon' }), []],
    ['stays when its NodePool is gone', false, ofPool, undefined, []],
    ['stays when its NodePool was made again (I10)', false, by('NodePool', 'web', 'uid-before'), pool(), []],
    ['stays while its policy sets one', false, ofPolicy, pool(), [policy({ terminationGracePeriod: '9m' })]],
    ['is taken back once its policy sets none', true, ofPolicy, pool(), [policy({})]],
    ['is taken back once its policy has no block', true, ofPolicy, pool(), [policy(undefined)]],
    ['stays while its policy cannot be read', false, ofPolicy, pool(), [policy({ scope: 'Everything' })]],
    ['stays when its policy is gone', false, ofPolicy, pool(), []],
  ])('%s', (_, expected, deadline, of, policies) => {
    expect(takesBackDeadline(deadline, of, readPolicies(policies))).toBe(expected);
  });
});

describe('what is wrong with the settings', () => {
  it.each<[string, KubernetesObject, RegExp | undefined]>([
    ['of a NodePool without any', pool(), undefined],
    [
      'of a NodePool is said with the field',
      pool({ terminationGracePeriodSeconds: 'soon' }),
      /spec\.disruption\.terminationGracePeriodSeconds/,
    ],
    ['of a policy without the block', policy(undefined), undefined],
    ['of a policy is said with the field', policy({ scope: 'Everything' }), /spec\.termination\.scope/],
  ])('%s', (_, of, expected) => {
    if (expected === undefined) expect(terminationFault(of)).toBeUndefined();
    else expect(terminationFault(of)).toMatch(expected);
  });
});
