/** Mistakes in the limit of drains that show only when the looks of two nodes meet. */
import { expect, it } from 'vitest';
import { invariant } from '../../shared/domain/invariant.ts';
import { explore, SMALLEST_BOUNDS } from '../../simulator/explorer/explore.ts';
import { DRAIN_LIMITS_SITUATIONS } from '../../simulator/explorer/situations/drain-limits.ts';
import { BEGINS_WITHOUT_A_SECOND_LOOK } from '../mutants/drain-requests.ts';

const TIMEOUT_MS = 60_000;

it(
  'finds a Curfew that takes a slot without looking whether another node has in between',
  async () => {
    const [situation] = DRAIN_LIMITS_SITUATIONS;
    invariant(situation !== undefined, 'there is a situation');
    const { failure } = await explore(situation, SMALLEST_BOUNDS, BEGINS_WITHOUT_A_SECOND_LOOK);
    expect(failure?.reasons[0]).toMatch(/^I3: the drain of Node n2 begins while .*n1.* are drained, 1 may be$/);
  },
  TIMEOUT_MS,
);
