/** Mistakes in the limits of zone and cluster that show only when two passes meet. */
import { expect, it } from 'vitest';
import { invariant } from '../../shared/domain/invariant.ts';
import { explore, SMALLEST_BOUNDS } from '../../simulator/explorer/explore.ts';
import { REPAIR_LIMITS_SITUATIONS } from '../../simulator/explorer/situations/repair-limits.ts';
import { RESERVES_WITHOUT_PRECONDITION } from '../mutants/repair-limits.ts';

const TIMEOUT_MS = 60_000;

it(
  'finds a Curfew that reserves without looking whether another pool has in between',
  async () => {
    const [situation] = REPAIR_LIMITS_SITUATIONS;
    invariant(situation !== undefined, 'there is a situation');
    const { failure } = await explore(situation, SMALLEST_BOUNDS, RESERVES_WITHOUT_PRECONDITION);
    expect(failure?.reasons[0]).toMatch(/^I3: .* 1 are under way in its cluster, 1 may be$/);
  },
  TIMEOUT_MS,
);
