import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedParts, fingerprintOf } from '../../forwarder/fingerprint.ts';

/** Texts as short as they come, and such as a shorter one could be taken for. */
const part = fc.oneof(
  fc.constantFrom(undefined, null, '', ' ', 'a', 'a ', '----------', '---------', true, 1, '1', ['a'], { a: 1 }),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
);

describe('a fingerprint', () => {
  it('says which parts differ, however short they are', () => {
    fc.assert(
      fc.property(fc.record({ a: part, b: part }), fc.record({ a: part, b: part }), (before, after) => {
        const differ = (name: 'a' | 'b') => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
        const changed = changedParts(after, fingerprintOf(before), fingerprintOf(after));
        expect(changed).toEqual((['a', 'b'] as const).filter(differ));
      }),
      { numRuns: 1000 },
    );
  });
});
