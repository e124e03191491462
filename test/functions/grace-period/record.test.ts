import { expect, it } from 'vitest';
import { GRACE_PERIOD_CODEC } from '../../../functions/grace-period/record.ts';
import { storedState } from '../../fixtures/items/record-types.ts';

const ANNOUNCED = { 'uid-ci': { elapsed: '2024-01-01T14:00:00Z' }, 'uid-web': { invalid: '"4d"' } };

it('reads what version 1 announced, without the claim of the run that was at it', () => {
  expect(GRACE_PERIOD_CODEC.parse(storedState('grace-period-v1.json'))).toEqual({ announcedKeys: ANNOUNCED });
});

it.each([
  ['restored', { times: 2, lastTime: 1 }],
  ['refused', undefined],
])('reads an effort of version 1 that was %s', (kind, effort) => {
  const record = GRACE_PERIOD_CODEC.parse({ announced: {}, effort: { kind, times: 2, lastTime: 1 } });
  expect(record).toEqual({ announcedKeys: {}, ...(effort && { effort }) });
});

it('refuses what has another shape', () => {
  expect(() => GRACE_PERIOD_CODEC.parse({ announced: 'x' })).toThrow('announced');
});

it('passes over what a newer version adds', () => {
  expect(GRACE_PERIOD_CODEC.parse({ announced: {}, added: true })).toEqual({ announcedKeys: {} });
});
