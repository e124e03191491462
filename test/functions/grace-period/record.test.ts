import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gracePeriodCodec } from '../../../functions/grace-period/record.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

/** A record as it was stored by the first version; it must be read for as long as one may be in a table. */
const fixture = new URL('../../fixtures/items/grace-period-v1.json', import.meta.url);

it('reads and writes version 1', () => {
  const state: unknown = JSON.parse(readFileSync(fixture, 'utf8'));
  const record = gracePeriodCodec.parse({ ...Object(state) });
  expect(record).toEqual({
    announced: { 'uid-ci': { elapsed: '2024-01-01T14:00:00Z' }, 'uid-web': { invalid: '"4d"' } },
    claimTime: toEpochMs(Date.UTC(2024, 0, 1, 14)),
  });
  expect({ schemaVersion: gracePeriodCodec.schemaVersion, ...gracePeriodCodec.toState(record) }).toEqual(state);
});

it('refuses what has another shape', () => {
  expect(() => gracePeriodCodec.parse({ announced: 'x' })).toThrow('announced');
});

it('passes over what a newer version adds', () => {
  expect(gracePeriodCodec.parse({ announced: {}, added: true })).toEqual({ announced: {} });
});
