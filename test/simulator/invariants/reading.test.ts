/** The checks and Curfew read instants and durations apart from each other, and mean the same by each. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseTimestamp } from '../../../shared/domain/time.ts';
import { instantOf, millisecondsOf } from '../../../simulator/invariants/reading.ts';

const INSTANTS: readonly string[] = [
  '2024-11-01T15:00:00Z',
  '2024-11-01t15:00:00z',
  '2024-11-01T15:00:00.5+02:00',
  '2024-02-29T00:00:00Z',
  '2024-02-30T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2024-04-31T12:00:00Z',
  '2100-02-29T00:00:00Z',
  '2024-11-01T24:00:00Z',
  '2024-11-01T23:60:00Z',
  '2024-12-31T23:59:60Z',
  '2024-13-01T00:00:00Z',
  '2024-00-10T00:00:00Z',
  '2024-11-00T00:00:00Z',
  '2024-11-01',
  '2024-11-01T15:00Z',
  '2024-11-01T15:00:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59+00:00',
  ' 2024-11-01T15:00:00Z',
  '',
];

describe('an instant', () => {
  it.each(INSTANTS)('%j', text => {
    expect(instantOf(text)).toBe(parseTimestamp(text));
  });
});

const fixture = new URL('../../fixtures/conformance/go-duration-vectors.json', import.meta.url);
const { vectors } = z
  .object({ vectors: z.array(z.object({ id: z.string(), input: z.string(), nanoseconds: z.nullable(z.string()) })) })
  .parse(JSON.parse(readFileSync(fixture, 'utf8')));

describe('a duration', () => {
  it.each(vectors)('$id $input', ({ input, nanoseconds }) => {
    expect(millisecondsOf(input)).toBe(nanoseconds === null ? undefined : Number(nanoseconds) / 1e6);
  });
});
