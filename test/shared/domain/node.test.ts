import { describe, expect, it } from 'vitest';
import { readConditions } from '../../../shared/domain/node.ts';

const timesOf = (...lastTransitionTimes: (string | null)[]): readonly unknown[] =>
  readConditions(
    lastTransitionTimes.map(lastTransitionTime => ({ type: 'Ready', status: 'False', lastTransitionTime })),
  ).map(condition => condition.lastTransitionTime);

describe('the transition time of a condition', () => {
  it('is an instant, with any offset', () => {
    const instant = Date.UTC(2024, 10, 1, 15);
    expect(timesOf('2024-11-01T15:00:00Z', '2024-11-01T17:00:00+02:00', '1970-01-01T00:00:00Z')).toEqual([
      instant,
      instant,
      0,
    ]);
  });

  it("is none where it is missing, cannot be read, or is Go's zero time: no toleration has passed since", () => {
    expect(timesOf(null, '', 'noon', '0001-01-01T00:00:00Z')).toEqual([undefined, undefined, undefined, undefined]);
  });
});
