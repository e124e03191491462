import { expect, it } from 'vitest';
import { isAhead, toEpochMs, whileAhead } from '../../../shared/domain/time.ts';

const NOW = toEpochMs(1000);

it.each([
  ['before now is not ahead', toEpochMs(999), false],
  ['that is now is not ahead', toEpochMs(1000), false],
  ['after now is ahead', toEpochMs(1001), true],
])('an instant %s', (_, time, expected) => {
  expect(isAhead(NOW, time)).toBe(expected);
  expect(whileAhead(NOW, time)).toBe(expected ? time : undefined);
});

it('no instant is ahead where there is none', () => {
  expect(whileAhead(NOW, undefined)).toBeUndefined();
});
