/** What the definitions take of a finalizer's name and of `rateLimit` is what the code takes: neither is wider or narrower. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { faultsOf, stored, type Kind } from './definitions.ts';

const RULE = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  finalizerName: 'example.com/a',
  cleanup: { builtin: { name: 'None' } },
};

function expectSame(kind: Kind, spec: JsonObject): void {
  const taken = stored(kind, spec) !== undefined;
  const faults = faultsOf(kind, spec);
  expect({ taken, faults }).toEqual({ taken, faults: taken ? [] : expect.arrayContaining([expect.any(String)]) });
}

const NAMES: readonly (readonly [string, Kind, (name: string) => JsonObject])[] = [
  ['a FinalizerRule', 'FinalizerRule', name => ({ ...RULE, finalizerName: name })],
  ['a NodeLifecyclePolicy', 'NodeLifecyclePolicy', name => ({ termination: { finalizerName: name } })],
];

const OF_OTHERS = [
  'kubernetes.io/pv-protection',
  'kubernetes.io/pvc-protection',
  'node.kubernetes.io/x',
  'a.b.kubernetes.io/x',
  'service.kubernetes.io/load-balancer-cleanup',
  'batch.kubernetes.io/job-tracking',
  'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
  'customresourcecleanup.apiextensions.k8s.io/x',
  'ingress.k8s.io/x',
  'karpenter.sh/termination',
  'karpenter.sh/x',
];
const OF_USERS = [
  'example.com/cleanup',
  'curfew.dev/termination',
  'notkubernetes.io/x',
  'kubernetes.io.example.com/x',
  'xk8s.io/x',
  'my.karpenter.sh.example.com/x',
  'example.com/kubernetes.io',
  'a/b',
];

describe.each(NAMES)('the name of a finalizer in %s', (_title, kind, specOf) => {
  it.each(OF_OTHERS)('is not %s, which is that of Kubernetes or Karpenter', name => {
    expect(stored(kind, specOf(name))).toBeUndefined();
    expect(faultsOf(kind, specOf(name)).join()).toMatch(/domain of Kubernetes or Karpenter/);
  });

  it.each(OF_USERS)('may be %s', name => {
    expect(stored(kind, specOf(name))).toBeDefined();
    expect(faultsOf(kind, specOf(name))).toEqual([]);
  });

  it('is refused by the definition where the code refuses it, and nowhere else', () => {
    const label = fc.constantFrom(
      'a',
      'kubernetes',
      'k8s',
      'karpenter',
      'io',
      'sh',
      'x-',
      '-x',
      'A',
      'é',
      '',
      '1',
      ' ',
    );
    const domain = fc.oneof(
      fc.array(label, { minLength: 1, maxLength: 4 }).map(labels => labels.join('.')),
      fc.tuple(label, fc.constantFrom('kubernetes.io', 'k8s.io', 'karpenter.sh')).map(parts => parts.join('.')),
    );
    const rest = fc.oneof(
      fc.constantFrom('termination', 'a/b', '', 'A.b_c-d', '-', 'x'.repeat(63), 'x'.repeat(64), 'a\n', 'a b'),
      fc.string({ maxLength: 8 }),
    );
    const name = fc.oneof(
      fc.tuple(domain, rest).map(parts => parts.join('/')),
      fc.integer({ min: 310, max: 320 }).map(length => `${'a'.repeat(length - 2)}/b`),
      fc.constantFrom('foregroundDeletion', 'orphan', 'kubernetes', 'KUBERNETES.IO/x', 'kubernetes.io', '/x', 'a/b\n'),
    );
    fc.assert(
      fc.property(name, each => expectSame(kind, specOf(each))),
      { numRuns: 500 },
    );
  });
});

describe('rateLimit', () => {
  const odd = fc.constantFrom<JsonValue>('5', '', true, [], {}, '5m', -1, 0, 1.5, 1e9);
  const perSecond = fc.oneof(
    fc.constantFrom<JsonValue>(0.01, 0.009999, 0.1, 1, 5, 99.9, 100, 100.0001, 101, 1e-9, 1e300),
    fc.double({ min: -1, max: 101, noNaN: true }).map(value => value || 0),
    odd,
  );
  const concurrent = fc.oneof(fc.constantFrom<JsonValue>(1, 2, 100, 101, 2.5, 2 ** 53), fc.integer(), odd);
  // The code counts in milliseconds.
  const longestBackoff = fc.oneof(
    fc.constantFrom<JsonValue>('5s', '4999ms', '5000ms', '24h', '24h1ms', '1440m', '86400s', '86401s'),
    fc.constantFrom<JsonValue>('1m', '0s', '-5s', '1d', '5', '00005s', '9999ms', '1h1h', '2562047h', '5S', ' 5s'),
    odd,
  );

  it('is refused by the definition where the code refuses it, and nowhere else', () => {
    const limit = fc.record({ perSecond, concurrent, longestBackoff }, { requiredKeys: [] });
    const anything = fc.oneof({ weight: 20, arbitrary: limit }, { weight: 1, arbitrary: odd });
    fc.assert(
      fc.property(anything, rateLimit => expectSame('FinalizerRule', { ...RULE, rateLimit })),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['perSecond', 0.01, 100],
    ['concurrent', 1, 100],
    ['longestBackoff', '5s', '24h'],
  ])('%s is from %s to %s', (key, least, most) => {
    for (const value of [least, most]) {
      expect(stored('FinalizerRule', { ...RULE, rateLimit: { [key]: value } })).toBeDefined();
    }
  });
});
