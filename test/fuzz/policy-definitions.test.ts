/**
 * Curfew's CustomResourceDefinitions refuse whatever the code cannot read, so that settings that cannot be read are rare. The embedded API
 * server is the judge of the definitions.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { faultsOf, stored, type Kind } from './definitions.ts';

/** Numbers of every length, units that Go has and has not, signs, spaces, and the longest duration with its neighbours. */
const durationText = fc.oneof(
  { weight: 6, arbitrary: fc.array(term(), { minLength: 1, maxLength: 4 }).map(terms => terms.join('')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '0',
      '0s',
      '0.0h',
      '0.0000000001ns',
      '',
      ' 1h',
      '1h ',
      '+1h',
      '-1h',
      '.5h',
      '1.h',
      '1H',
      '4d',
      'Never',
      '1µs',
      '1μs',
      '2562047h47m16.854775807s',
      '2562047h47m16.854775808s',
      '2562048h',
      '9999999h',
      '9999999h9999999h',
      '99999999h',
      '9223372036854775807ns',
      '9223372036854775808ns',
      '9223372036854775808ns9223372036854775808ns',
      '8760h',
      '1h'.repeat(32),
      '1h'.repeat(33),
      `0.${'9'.repeat(61)}h`,
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);

function term(): fc.Arbitrary<string> {
  const digits = fc
    .integer({ min: 1, max: 9 })
    .chain(length => fc.integer({ min: 0, max: 10 ** length - 1 }).map(String));
  const fraction = fc.oneof(
    fc.constant(''),
    fc.integer({ min: 0, max: 999_999_999 }).map(value => `.${value}`),
  );
  const unit = fc.constantFrom('ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'h', 'd', '');
  return fc.tuple(digits, fraction, unit).map(parts => parts.join(''));
}

const hook = (fields: JsonObject): JsonObject => ({
  termination: { hooks: [{ name: 'a', at: 'before-drain', lambda: { functionName: 'f' }, ...fields }] },
});
const rule = {
  version: 'v1',
  kind: 'Thing',
  group: 'example.com',
  finalizerName: 'example.com/a',
  cleanup: { builtin: { name: 'None' } },
};

/** Every place of a duration. */
const PLACES: readonly (readonly [string, Kind, (text: string) => JsonObject])[] = [
  [
    'repair.defaultTolerationDuration',
    'NodeLifecyclePolicy',
    text => ({ repair: { defaultTolerationDuration: text } }),
  ],
  [
    'repair.policies',
    'NodeLifecyclePolicy',
    text => ({ repair: { policies: [{ conditionType: 'Ready', toleration: text }] } }),
  ],
  [
    'repair.conditions',
    'NodeLifecyclePolicy',
    text => ({ repair: { conditions: [{ type: 'Slow', status: 'True', toleration: text }] } }),
  ],
  ['repair.actions', 'NodeLifecyclePolicy', text => ({ repair: { actions: [{ type: 'Reboot', timeout: text }] } })],
  [
    'repair.flapping.window',
    'NodeLifecyclePolicy',
    text => ({ repair: { flapping: { window: text, unhealthyFor: '1ns' } } }),
  ],
  ['repair.flapping', 'NodeLifecyclePolicy', text => ({ repair: { flapping: { window: '1h', unhealthyFor: text } } })],
  ['repair.futility', 'NodeLifecyclePolicy', text => ({ repair: { futility: { repairs: 3, window: text } } })],
  ['drain.deadline', 'NodeLifecyclePolicy', text => ({ drain: { deadline: text } })],
  [
    'termination.terminationGracePeriod',
    'NodeLifecyclePolicy',
    text => ({ termination: { terminationGracePeriod: text } }),
  ],
  ['termination.hooks.deadline', 'NodeLifecyclePolicy', text => hook({ deadline: text })],
  ['termination.hooks.heartbeat', 'NodeLifecyclePolicy', text => hook({ heartbeat: text })],
  ['protection.maxDuration', 'NodeLifecyclePolicy', text => ({ protection: { maxDuration: text } })],
  ['protection.warnBefore', 'NodeLifecyclePolicy', text => ({ protection: { warnBefore: text } })],
  [
    'protection.warnBefore beside a limit',
    'NodeLifecyclePolicy',
    text => ({ protection: { warnBefore: text, maxDuration: '1h' } }),
  ],
  [
    'protection.namespaces',
    'NodeLifecyclePolicy',
    text => ({ protection: { namespaces: [{ name: 'ci', maxDuration: text }] } }),
  ],
  ['a rule', 'FinalizerRule', text => ({ ...rule, deadline: text })],
];

/** What every duration field takes that is in it: positive, in Go's plain form, with numbers of at most seven digits. */
const PLAIN = /^(?:[0-9]{1,7}(?:[.][0-9]{1,7})?(?:ns|us|µs|ms|s|m|h))+$/u;

describe('a duration that the API server takes is one that the code reads', () => {
  it.each(PLACES)('%s', (_name, kind, specOf) => {
    fc.assert(
      fc.property(durationText, text => {
        const spec = stored(kind, specOf(text));
        if (spec !== undefined) expect(faultsOf(kind, spec)).toEqual([]);
        // The definition is no narrower than it says.
        else if (PLAIN.test(text) && text.length <= 64) expect(faultsOf(kind, specOf(text))).not.toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

it('a pattern that the API server takes is one that the code reads', () => {
  const pattern = fc.oneof(
    fc.constantFrom(
      '(',
      '[a',
      '(?=a)',
      '(?P<x>a)',
      'a{2000}',
      '\\',
      '\\1',
      '^Ssd',
      'Xid(48|79)',
      '*',
      'a**',
      '\\pL',
      '(?i)a',
    ),
    fc.string({ minLength: 1, maxLength: 12 }),
  );
  fc.assert(
    fc.property(pattern, reason => {
      const given = { repair: { conditions: [{ type: 'Slow', status: 'True', toleration: '1h', reason }] } };
      const spec = stored('NodeLifecyclePolicy', given);
      expect(spec === undefined ? [] : faultsOf('NodeLifecyclePolicy', spec)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

const anyValue: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    'Off',
    false,
    true,
    0,
    1,
    -1,
    1.5,
    '20%',
    '0%',
    '101%',
    '',
    'Never',
    [],
    {},
    'Enforce',
    'observe',
  ),
  durationText,
  fc.integer(),
);
const KEYS = {
  repair: [
    'defaultTolerationDuration',
    'maxUnhealthy',
    'maxConcurrentRepairs',
    'zoneOutage',
    'freeze',
    'actions',
    'nodesWithoutNodeClaim',
  ],
  repairLimits: ['maxConcurrentRepairsPerZone', 'maxConcurrentRepairsPerCluster'],
  drain: ['maxConcurrent', 'deadline', 'onDeadline'],
  termination: ['finalizerName', 'scope', 'terminationGracePeriod', 'builtin', 'hooks'],
  protection: ['compatibility', 'maxDuration', 'warnBefore', 'namespaces'],
} as const;
const anySpec: fc.Arbitrary<JsonObject> = fc.record(
  {
    mode: anyValue,
    ...Object.fromEntries(
      Object.entries(KEYS).map(([block, keys]) => [
        block,
        fc.record(Object.fromEntries(keys.map(key => [key, anyValue])), { requiredKeys: [] }),
      ]),
    ),
  },
  { requiredKeys: [] },
);

it('a policy that the API server takes is one that the code reads', () => {
  fc.assert(
    fc.property(anySpec, given => {
      const spec = stored('NodeLifecyclePolicy', given);
      if (spec !== undefined) expect(faultsOf('NodeLifecyclePolicy', spec)).toEqual([]);
    }),
    { numRuns: 600 },
  );
});
