import { describe, expect, it } from 'vitest';
import { plainJson } from '../../../shared/contract/extended-json.ts';

describe('Extended JSON', () => {
  it.each([
    [{ $oid: 'a' }, 'a'],
    [{ $date: '2024-11-01T15:00:00Z' }, '2024-11-01T15:00:00Z'],
    [{ $date: { $numberLong: '1730473200000' } }, '2024-11-01T15:00:00.000Z'],
    [{ $date: 1_730_473_200_000 }, '2024-11-01T15:00:00.000Z'],
    [{ $numberInt: '-3' }, -3],
    [{ $numberLong: '9007199254740993' }, '9007199254740993'],
    [{ $numberDouble: '1.5' }, 1.5],
    [{ $numberDecimal: '2' }, 2],
    [{ $timestamp: { t: 1_730_473_200, i: 1 } }, '2024-11-01T15:00:00.000Z'],
    [{ $uuid: 'c0ffee00-0000-4000-8000-000000000000' }, 'c0ffee00-0000-4000-8000-000000000000'],
    [{ $binary: { base64: 'wP/uAAAAQACAAAAAAAAAAA==', subType: '04' } }, 'c0ffee00-0000-4000-8000-000000000000'],
    [{ $undefined: true }, null],
  ])('%j is %j', (wrapped, plain) => {
    expect(plainJson({ a: [{ b: wrapped }] })).toEqual({ a: [{ b: plain }] });
  });

  it.each([[{ $oid: 5 }], [{ $date: 'x', more: 1 }], [{ $numberInt: 'many' }], [{ $unheardOf: 1 }], [{ $date: NaN }]])(
    'leaves %j as it is',
    value => {
      expect(plainJson(value)).toEqual(value);
    },
  );
});
