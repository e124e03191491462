/**
 * What an upgrade changes: until 0.1.0 a pool had one mode, that of its most specific policy, whatever that was about. Each row has the old
 * meaning beside the new one. A row in which something that was only observed is enforced from now on is a line of CHANGELOG.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../shared/contract/policy-schema.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { decisionFor } from '../../../shared/policies/deciding-policy.ts';
import { policiesFor, readPolicies, type PolicySet } from '../../../shared/policies/policy-set.ts';

const BLOCK = 'termination';
const SELECTORS = [{}, { matchLabels: { team: 'ml' } }] as const;

function object(kind: string, name: string, spec: JsonObject, labels: Record<string, string> = {}): KubernetesObject {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z', labels };
  return { apiVersion: 'v1', kind, metadata, spec };
}
const pool = object('NodePool', 'gpu', {}, { team: 'ml' });

type About = 'no block' | 'the block' | 'another block';
const SPECS: Readonly<Record<About, JsonObject>> = {
  'no block': {},
  'the block': { [BLOCK]: {} },
  'another block': { protection: {} },
};
/** @param requirements how specific it is */
const policy = (name: string, requirements: 0 | 1, mode: Mode, about: About): KubernetesObject =>
  object('NodeLifecyclePolicy', name, { nodePoolSelector: SELECTORS[requirements], mode, ...SPECS[about] });

/** The rule of 0.1.0. @param holder where the block stands */
function oldMode(policySet: PolicySet, holder: KubernetesObject | undefined): Mode {
  const applying = policiesFor(pool, policySet);
  const own = applying.find(({ object: each }) => each === holder);
  return own?.mode === 'Observe' ? 'Observe' : (applying[0]?.mode ?? 'Enforce');
}

function modes(policies: readonly KubernetesObject[], isOfNodePool: boolean): readonly [Mode, Mode] {
  const policySet = readPolicies(policies);
  const holder = policiesFor(pool, policySet).find(({ object: each }) => each.spec?.[BLOCK] !== undefined);
  return [oldMode(policySet, isOfNodePool ? pool : holder?.object), decisionFor(pool, BLOCK, policySet).mode];
}

describe('the mode of a block that stands in a NodePool, with one policy', () => {
  it.each<[About, Mode, Mode, Mode]>([
    ['no block', 'Observe', 'Observe', 'Observe'],
    ['no block', 'Enforce', 'Enforce', 'Enforce'],
    ['the block', 'Observe', 'Observe', 'Observe'],
    ['the block', 'Enforce', 'Enforce', 'Enforce'],
    ['another block', 'Observe', 'Observe', 'Enforce'],
    ['another block', 'Enforce', 'Enforce', 'Enforce'],
  ])('about %s in %s: %s before, %s now', (about, mode, before, now) => {
    expect(modes([policy('p', 1, mode, about)], true)).toEqual([before, now]);
  });
});

describe('the mode of a block that stands in a policy, with a more specific one beside it', () => {
  it.each<[Mode, About, Mode, Mode, Mode]>([
    ['Enforce', 'no block', 'Observe', 'Observe', 'Observe'],
    ['Enforce', 'no block', 'Enforce', 'Enforce', 'Enforce'],
    ['Enforce', 'the block', 'Observe', 'Observe', 'Observe'],
    ['Enforce', 'the block', 'Enforce', 'Enforce', 'Enforce'],
    ['Enforce', 'another block', 'Observe', 'Observe', 'Enforce'],
    ['Enforce', 'another block', 'Enforce', 'Enforce', 'Enforce'],
    ['Observe', 'no block', 'Observe', 'Observe', 'Observe'],
    ['Observe', 'no block', 'Enforce', 'Observe', 'Observe'],
    ['Observe', 'the block', 'Observe', 'Observe', 'Observe'],
    ['Observe', 'the block', 'Enforce', 'Enforce', 'Enforce'],
    ['Observe', 'another block', 'Observe', 'Observe', 'Observe'],
    ['Observe', 'another block', 'Enforce', 'Observe', 'Observe'],
  ])('in %s, beside one about %s in %s: %s before, %s now', (own, about, mode, before, now) => {
    expect(modes([policy('h', 0, own, 'the block'), policy('p', 1, mode, about)], false)).toEqual([before, now]);
  });
});

describe('the mode of a block that stands in a policy, with one as specific beside it', () => {
  it.each<[string, Mode, Mode, Mode]>([
    ['a-first-by-name', 'Observe', 'Observe', 'Enforce'],
    ['a-first-by-name', 'Enforce', 'Enforce', 'Enforce'],
    ['z-last-by-name', 'Observe', 'Enforce', 'Enforce'],
    ['z-last-by-name', 'Enforce', 'Enforce', 'Enforce'],
  ])('without a block, %s, in %s: %s before, %s now', (name, mode, before, now) => {
    expect(modes([policy('h', 1, 'Enforce', 'the block'), policy(name, 1, mode, 'no block')], false)).toEqual([
      before,
      now,
    ]);
  });
});

it.each([
  'A policy in `Observe` that states some block held everything in its NodePools',
  'It no longer holds a block that an',
  "A NodePool's own block has the mode of the policy that states the same block",
  '**Before you upgrade** apply a policy without a block, in mode `Observe`',
])('CHANGELOG.md says: %s', sentence => {
  expect(readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8')).toContain(sentence);
});
