/** Two runs at once, in the size that is fit for every day; `npm run explore` has the full one. */
import { describe, expect, it } from 'vitest';
import { everydayBounds, explore } from '../../simulator/explorer/explore.ts';
import { describeFailure } from '../../simulator/explorer/print.ts';
import { SITUATIONS } from '../../simulator/explorer/situations/situations.ts';
import { withoutStacks } from '../builders/without-stacks.ts';

withoutStacks();

const TIMEOUT_MS = 60_000;

describe('two runs at once end as one after the other', () => {
  it.each(SITUATIONS.map(situation => [`${situation.concern}: ${situation.name}`, situation] as const))(
    '%s',
    async (_name, situation) => {
      let told = 0;
      const exploration = await explore(situation, everydayBounds(situation), {
        onSchedule(tried) {
          told = tried;
        },
      });
      const { failure, schedules, followed, crashes } = exploration;
      const text = failure === undefined ? '' : describeFailure(exploration, failure);
      expect(text).toBe('');
      expect(told).toBe(followed);
      expect(schedules).toBeGreaterThan(crashes);
      const hasNone = situation.isLong === true || situation.isWithoutCrashes === true;
      expect(crashes).toBeGreaterThan(hasNone ? -1 : 0);
    },
    TIMEOUT_MS,
  );
});
