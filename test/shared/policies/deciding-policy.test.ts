/** A mode belongs to its block: which policy decides about a block in a pool, and in which mode. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { decisionFor, isBlockless } from '../../../shared/policies/deciding-policy.ts';
import { readPolicies } from '../../../shared/policies/policy-set.ts';

function object(kind: string, name: string, spec: JsonObject, labels: Record<string, string> = {}): KubernetesObject {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z', labels };
  return { apiVersion: 'v1', kind, metadata, spec };
}
const pool = object('NodePool', 'gpu', {}, { team: 'ml', gpu: 'yes' });
const SELECTORS = [{}, { matchLabels: { team: 'ml' } }, { matchLabels: { team: 'ml', gpu: 'yes' } }] as const;

/** @param requirements how specific it is: 0, 1 or 2 */
function policy(name: string, requirements: 0 | 1 | 2, mode: 'Enforce' | 'Observe', ...blocks: string[]) {
  const stated = Object.fromEntries(blocks.map(block => [block, {}]));
  return object('NodeLifecyclePolicy', name, { nodePoolSelector: SELECTORS[requirements], mode, ...stated });
}
function decided(policies: readonly KubernetesObject[], block: 'repair' | 'termination' | 'drain' = 'termination') {
  const { mode, modePolicy, policy } = decisionFor(pool, block, readPolicies(policies));
  return { mode, by: modePolicy?.object.metadata.name, policy: policy?.object.metadata.name };
}

describe('the mode of a block', () => {
  it.each([
    ['Enforce without a policy', [], { mode: 'Enforce', by: undefined, policy: undefined }],
    [
      'that of the most specific policy that states it',
      [policy('a', 0, 'Enforce', 'termination'), policy('b', 1, 'Observe', 'termination')],
      { mode: 'Observe', by: 'b', policy: 'b' },
    ],
    [
      'not that of a more specific policy about something else',
      [policy('a', 0, 'Enforce', 'termination'), policy('b', 2, 'Observe', 'repair')],
      { mode: 'Enforce', by: 'a', policy: 'a' },
    ],
    [
      'not lifted by a more specific policy about something else',
      [policy('a', 0, 'Observe', 'termination'), policy('b', 2, 'Enforce', 'repair')],
      { mode: 'Observe', by: 'a', policy: 'a' },
    ],
    [
      'the brake holds what no policy states',
      [policy('a', 0, 'Observe')],
      { mode: 'Observe', by: 'a', policy: undefined },
    ],
    [
      'the brake holds what a more general policy states',
      [policy('a', 0, 'Enforce', 'termination'), policy('b', 1, 'Observe')],
      { mode: 'Observe', by: 'b', policy: 'a' },
    ],
    [
      'the brake does not hold what a policy states that is as specific, whatever their names',
      [policy('a', 1, 'Observe'), policy('b', 1, 'Enforce', 'termination')],
      { mode: 'Enforce', by: 'b', policy: 'b' },
    ],
    [
      'a more specific policy without a block lifts the brake',
      [policy('a', 0, 'Observe'), policy('b', 1, 'Enforce')],
      { mode: 'Enforce', by: 'b', policy: undefined },
    ],
    [
      'a policy that states another block is no brake',
      [policy('a', 0, 'Observe', 'protection')],
      { mode: 'Enforce', by: undefined, policy: undefined },
    ],
  ] as const)('%s', (_name, policies, expected) => {
    expect(decided(policies)).toEqual(expected);
  });

  it('holds drains that nothing states anything about by the brake alone', () => {
    expect(decided([policy('a', 0, 'Observe')], 'drain').mode).toBe('Observe');
    expect(decided([policy('a', 0, 'Observe', 'repair', 'termination')], 'drain').mode).toBe('Enforce');
  });

  it('takes a block of a newer version for a block', () => {
    expect(isBlockless(object('NodeLifecyclePolicy', 'a', { mode: 'Observe', future: {} }))).toBe(false);
    expect(isBlockless(object('NodeLifecyclePolicy', 'a', { mode: 'Observe', nodePoolSelector: {} }))).toBe(true);
  });
});

const anyPolicy = fc
  .record({
    requirements: fc.constantFrom(0 as const, 1 as const, 2 as const),
    mode: fc.constantFrom('Enforce' as const, 'Observe' as const),
    blocks: fc.subarray(['repair', 'repairLimits', 'termination', 'protection']),
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  })
  .map(({ requirements, mode, blocks, name }) => policy(name, requirements, mode, ...blocks));
const anyPolicies = fc.uniqueArray(anyPolicy, { maxLength: 4, selector: ({ metadata }) => metadata.name });
const BLOCKS = ['repair', 'termination', 'drain'] as const;

describe('over random policies', () => {
  it('one more in mode Observe never puts anything into force', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicy, (policies, added) => {
        const observing = {
          ...added,
          metadata: { ...added.metadata, name: 'bb' },
          spec: { ...added.spec, mode: 'Observe' },
        };
        for (const block of BLOCKS) {
          if (decided(policies, block).mode === 'Observe')
            expect(decided([...policies, observing], block).mode).toBe('Observe');
        }
      }),
    );
  });

  it('one more that states a block says nothing about the others', () => {
    fc.assert(
      fc.property(anyPolicies, anyPolicy, (policies, added) => {
        fc.pre(!isBlockless(added));
        const renamed = { ...added, metadata: { ...added.metadata, name: 'bb' } };
        for (const block of BLOCKS.filter(each => added.spec?.[each] === undefined)) {
          expect(decided([...policies, renamed], block)).toEqual(decided(policies, block));
        }
      }),
    );
  });
});
