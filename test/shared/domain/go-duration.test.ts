import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  formatDuration,
  formatGoDuration,
  nanosecondsToDuration,
  parseGoDuration,
} from '../../../shared/domain/go-duration.ts';
import { minutes, toDurationMs } from '../../../shared/domain/time.ts';
import { anyText } from '../../builders/any-text.ts';

const fixture = new URL('../../fixtures/conformance/go-duration-vectors.json', import.meta.url);
const { vectors } = z
  .object({
    vectors: z.array(
      z.object({ id: z.string(), input: z.string(), nanoseconds: z.string().nullable(), error: z.string().nullable() }),
    ),
  })
  .parse(JSON.parse(readFileSync(fixture, 'utf8')));

describe('parseGoDuration', () => {
  it.each(vectors)('answers as Go does: $id $input', ({ input, nanoseconds, error }) => {
    expect(parseGoDuration(input)).toEqual(
      error === null ? { ok: true, nanoseconds: BigInt(nanoseconds ?? 'missing') } : { ok: false, error },
    );
  });

  it('reads back every duration that Go can format', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), nanoseconds => {
        expect(parseGoDuration(formatGoDuration(nanoseconds))).toEqual({ ok: true, nanoseconds });
      }),
      { numRuns: 5000 },
    );
  });

  it('answers any text without throwing', () => {
    fc.assert(fc.property(anyText(), text => typeof parseGoDuration(text).ok === 'boolean'));
  });

  it('adds terms in any order', () => {
    const term = fc.record({ count: fc.nat(1000), unit: fc.constantFrom('h', 'm', 's', 'ms', 'us', 'µs', 'μs', 'ns') });
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), terms => {
        const text = (list: typeof terms): string => list.map(({ count, unit }) => `${count}${unit}`).join('');
        expect(parseGoDuration(text(terms))).toEqual(parseGoDuration(text(terms.toReversed())));
      }),
    );
  });
});

describe('formatGoDuration', () => {
  it.each([
    [0n, '0s'],
    [1n, '1ns'],
    [1500n, '1.5µs'],
    [250_000_000n, '250ms'],
    [1_500_000_000n, '1.5s'],
    [2_700_000_000_000n, '45m0s'],
    [5_400_000_000_000n, '1h30m0s'],
    [-1_000_000_000n, '-1s'],
    [9_223_372_036_854_775_807n, '2562047h47m16.854775807s'],
  ])('writes %s ns as %s', (nanoseconds, text) => {
    expect(formatGoDuration(nanoseconds)).toBe(text);
  });

  it('writes durations without end as "forever"', () => {
    expect([formatDuration(minutes(10)), formatDuration(toDurationMs(Infinity))]).toEqual(['10m0s', 'forever']);
  });
});

describe('nanosecondsToDuration', () => {
  it.each([
    [1n, 1],
    [999_999n, 1],
    [1_000_000n, 1],
    [1_000_001n, 2],
    [0n, 0],
    [-1n, 0],
  ])('rounds %s ns up to %s ms', (nanoseconds, ms) => {
    expect(nanosecondsToDuration(nanoseconds)).toBe(ms);
  });
});
