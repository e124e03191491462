import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../shared/errors.ts';
import type { CheckContext } from '../../../simulator/invariants/invariant.ts';
import { checkRobustness } from '../../../simulator/invariants/robustness.ts';

/** What is said of a minute with so many runs in a cluster of 100 nodes, of which some went back to the queue, and some nodes went. */
function violations(runs: number, retried: number, { gone = 0, claims = 0 } = {}): readonly string[] {
  const said: string[] = [];
  let nodes = 100;
  const countOf = (resource: string): number => ({ nodes, nodeclaims: claims })[resource] ?? 0;
  const mirror = {
    all: (resource: string) => new Map(Array.from({ length: countOf(resource) }, (_, n) => [`${resource}-${n}`, {}])),
  };
  const violate = (name: string, message: string): void => void said.push(`${name}: ${message}`);
  const check = checkRobustness({ mirror, violate } as unknown as CheckContext);
  for (let run = 0; run < runs; run++) check.onRun?.({ by: 'repair', startTime: 0 as never, calls: [] });
  for (let run = 0; run < retried; run++) check.onFailure?.('repair', new RetryableError('the store is away'));
  nodes -= gone;
  check.onMinute?.();
  return said;
}

describe('runs in one minute', () => {
  it.each([
    ['a thousand and ten for each object', 2000, 0, []],
    ['more than that', 2001, 0, ['I8: 2001 runs in one minute']],
    ['more than that, of which the outage of a part sent some back to the queue', 8000, 6000, []],
    ['more than that beside those that went back', 8000, 5999, ['I8: 2001 runs in one minute']],
  ])('%s', (_, runs, retried, expected) => {
    expect(violations(runs, retried)).toEqual(expected);
  });

  it('are ten for a NodeClaim, too', () => {
    expect(violations(3000, 0, { claims: 100 })).toEqual([]);
    expect(violations(3001, 0, { claims: 100 })).toEqual(['I8: 3001 runs in one minute']);
  });

  it('are counted by the nodes that were there when it began: a storm leaves none of them', () => {
    expect(violations(2000, 0, { gone: 100 })).toEqual([]);
    expect(violations(2001, 0, { gone: 100 })).toEqual(['I8: 2001 runs in one minute']);
  });
});
