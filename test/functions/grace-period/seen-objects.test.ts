import { expect, it } from 'vitest';
import { createSeenObjects } from '../../../functions/grace-period/seen-objects.ts';

it('knows a pod in the very state in which it was seen last', () => {
  const seen = createSeenObjects();
  seen.remember([{ uid: 'a', resourceVersion: '7' }]);
  seen.remember([{ uid: 'a', resourceVersion: '8' }]);
  expect(['7', '8', '9'].map(version => seen.has('a', version))).toEqual([false, true, false]);
  expect(seen.has('b', '8')).toBe(false);
});

it('forgets those that it has not seen for longest', () => {
  const seen = createSeenObjects(2);
  for (const uid of ['a', 'b', 'a', 'c']) seen.remember([{ uid, resourceVersion: '1' }]);
  expect(['a', 'b', 'c'].map(uid => seen.has(uid, '1'))).toEqual([true, false, true]);
});
