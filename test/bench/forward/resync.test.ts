import { expect, it } from 'vitest';
import { measureResync } from '../../../bench/forward/resync.ts';

it('the load of a resync is even, and no object is missed', async () => {
  const { perHour, missed } = await measureResync(1000);
  expect(perHour).toHaveLength(8);
  for (const count of perHour) expect(count).toBeCloseTo(250, -1);
  expect(missed).toBeLessThanOrEqual(1);
});
