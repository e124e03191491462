/** When the status of a policy is written, and what of it is kept. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../functions/repair/policy-status/decide.ts';
import { type ClusterFacts, observedPolicy } from '../../../../functions/repair/policy-status/observe.ts';
import type { PoolCounts } from '../../../../functions/repair/policy-status/settings.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../../../../shared/domain/time.ts';
import { readPolicies } from '../../../../shared/policies/policy-set.ts';
import { at, NOW } from '../../../builders/pool.ts';

const METADATA = { uid: 'uid-a', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' };
const policy = (spec: JsonObject, status?: JsonObject, generation = 3): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name: 'a', generation, ...METADATA },
  spec: { nodePoolSelector: {}, mode: 'Enforce', ...spec },
  ...(status && { status }),
});
const WEB: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'web', ...METADATA, uid: 'uid-web' },
};
const REPAIR = { repair: {} };
const HOOKED = {
  termination: { hooks: [{ name: 'h', at: 'before-terminate', lambda: { functionName: 'f' } }] },
};

interface Given {
  readonly object: KubernetesObject;
  readonly counts?: boolean;
  readonly minute?: number;
  readonly gateOpen?: boolean;
  readonly web?: Partial<PoolCounts>;
  readonly accepted?: Omit<Parameters<typeof observedPolicy>[0], 'object'>;
}

const VALID = { fault: undefined, acceptedGeneration: 3 };

function decided({ object, counts = false, minute = 0, gateOpen = true, web, accepted = VALID }: Given) {
  const pools = [
    { pool: WEB, nodes: 5, repairs: { blocked: 0, repairing: 1 }, claimsWithKarpenterFinalizer: 0, ...web },
  ];
  const cluster: ClusterFacts = { gateOpen, policySet: readPolicies([object]), pools, templates: [] };
  return decide(observedPolicy({ object, ...accepted }, cluster), { counts, now: at(minute) });
}

/** What stands in the status after a look. */
function written(given: Given): JsonObject {
  const decision = decided(given);
  if (decision.kind !== 'write') throw new Error(`the decision is ${decision.kind}`);
  return JSON.parse(JSON.stringify(decision.status)) as JsonObject;
}
const BEFORE = written({ object: policy(REPAIR) });
const transitions = (status: JsonObject): readonly (readonly unknown[])[] =>
  (status['conditions'] as readonly JsonObject[]).map(each => [
    each['type'],
    each['status'],
    each['lastTransitionTime'],
  ]);

describe('the status of a policy', () => {
  it('says what the policy selects, how it stands, and of which generation it is', () => {
    expect(BEFORE).toEqual({
      acceptedGeneration: 3,
      nodePools: 1,
      nodes: 5,
      held: 0,
      repairing: 1,
      pools: [{ name: 'web', nodes: 5, held: 0, repairing: 1 }],
      conditions: [
        {
          type: 'Accepted',
          status: 'True',
          reason: 'Valid',
          message: 'every field can be used',
          observedGeneration: 3,
          lastTransitionTime: toTimestamp(NOW),
        },
        {
          type: 'Active',
          status: 'True',
          reason: 'InForce',
          message: 'in force: repair',
          observedGeneration: 3,
          lastTransitionTime: toTimestamp(NOW),
        },
      ],
      observedGeneration: 3,
    });
  });

  it('is of generation 0 where the policy has none', () => {
    const { metadata, ...others } = policy(REPAIR);
    const { generation: _, ...without } = metadata;
    expect(written({ object: { ...others, metadata: without } })).toMatchObject({
      observedGeneration: 0,
      conditions: [{ observedGeneration: 0 }, { observedGeneration: 0 }],
    });
  });

  it('is not written again as it is, whenever that is looked at, and whatever else stands there', () => {
    for (const status of [BEFORE, { ...BEFORE, ofSomebodyElse: true }])
      expect(decided({ object: policy(REPAIR, status), counts: true, minute: 60 })).toEqual({ kind: 'same' });
  });

  it.each<[string, Omit<Given, 'object'>]>([
    ['more nodes', { web: { nodes: 6 } }],
    ['more repairs', { web: { repairs: { blocked: 0, repairing: 2 } } }],
  ])('waits with %s, until numbers are written', (_, given) => {
    const object = policy(REPAIR, BEFORE);
    expect(decided({ object, ...given })).toEqual({ kind: 'later' });
    expect(decided({ object, ...given, counts: true })).toMatchObject({ kind: 'write' });
  });

  it.each<[string, Given]>([
    ['a first repair is blocked', { object: policy(REPAIR, BEFORE), web: { repairs: { blocked: 1, repairing: 1 } } }],
    [
      'none is blocked any more',
      { object: policy(REPAIR, written({ object: policy(REPAIR), web: { repairs: { blocked: 2, repairing: 1 } } })) },
    ],
    ['the last repair is over', { object: policy(REPAIR, BEFORE), web: { repairs: { blocked: 0, repairing: 0 } } }],
    ['a condition turns', { object: policy(REPAIR, BEFORE), gateOpen: false }],
    ['the policy was edited', { object: policy(REPAIR, BEFORE, 4) }],
    ['only its own generation is another', { object: policy(REPAIR, { ...BEFORE, observedGeneration: 2 }) }],
    [
      'there was none, although nothing is blocked',
      { object: policy(REPAIR), web: { repairs: { blocked: 0, repairing: 0 } } },
    ],
  ])('is written at once when %s', (_, given) => {
    expect(decided(given)).toMatchObject({ kind: 'write', warning: undefined });
  });

  it('keeps the time of each condition until that turns', () => {
    const object = policy(REPAIR, BEFORE, 4);
    expect(transitions(written({ object, gateOpen: false, minute: 10 }))).toEqual([
      ['Accepted', 'True', toTimestamp(NOW)],
      ['Active', 'False', toTimestamp(at(10))],
    ]);
  });

  it('gets a time for a condition that somebody wrote without one, and for what is no condition', () => {
    const conditions = ['none', { type: 'Accepted', status: 'True' }];
    expect(transitions(written({ object: policy(REPAIR, { ...BEFORE, conditions }), minute: 10 }))).toEqual([
      ['Accepted', 'True', toTimestamp(at(10))],
      ['Active', 'True', toTimestamp(at(10))],
    ]);
  });
});

describe('the warning that Karpenter ends what the policy would', () => {
  const web = { claimsWithKarpenterFinalizer: 2 };

  it.each([
    ['hooks', HOOKED, 'HooksDoNotHold'],
    ['Replace', { termination: { builtin: 'Replace' } }, 'ReplaceNotInForce'],
  ])('is told once: of %s', (_, spec, reason) => {
    expect(decided({ object: policy(spec), web })).toMatchObject({ warning: { reason } });
    const status = written({ object: policy(spec), web });
    const again = decided({ object: policy(spec, status, 4), web });
    expect(again).toMatchObject({ kind: 'write', warning: undefined });
  });

  it('is told again when it says something else', () => {
    const status = written({ object: policy(HOOKED), web });
    const other = { ...WEB, metadata: { ...WEB.metadata, name: 'db' } };
    expect(decided({ object: policy(HOOKED, status), web: { ...web, pool: other } })).toMatchObject({
      warning: { message: expect.stringContaining('NodePool db') },
    });
    const conditions = (status['conditions'] as readonly JsonObject[]).map(each => ({ ...each, reason: 'Other' }));
    expect(decided({ object: policy(HOOKED, { ...status, conditions }), web })).toMatchObject({
      warning: { reason: 'HooksDoNotHold' },
    });
  });

  it('is the only one that is told: others stand in the status alone', () => {
    const typo = policy({ repair: { policies: [{ conditionType: 'Redy', toleration: '5m' }] } });
    expect(decided({ object: typo })).toMatchObject({ kind: 'write', warning: undefined });
    expect(written({ object: typo })['conditions']).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'UnknownConditionType' }),
    );
  });
});

describe('the generation that was accepted last', () => {
  it('stands in the status, and goes from it where none is in force any more', () => {
    const typo = policy({ repair: { typo: true } }, { acceptedGeneration: 2 });
    const fault = 'spec.repair: bad';
    expect(written({ object: typo, accepted: { fault, acceptedGeneration: 2 } })['acceptedGeneration']).toBe(2);
    expect(
      written({ object: typo, accepted: { fault, acceptedGeneration: undefined } })['acceptedGeneration'],
    ).toBeNull();
  });
});
