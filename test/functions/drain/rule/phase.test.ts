/** What the phase of a drain says of its requests. */
import { describe, expect, it } from 'vitest';
import { endingPhase, goesForAllPods } from '../../../../functions/drain/rule/phase.ts';
import type { DrainPhase } from '../../../../functions/drain/record.ts';
import { active, NOW, request, RESOURCE } from '../observations.ts';

const FALLBACK = { kind: 'fallback', because: 'TimedOut' } as const;
const OUTCOME = { status: 'Succeeded', reason: 'Drained', message: '', left: [] } as const;

describe('a drain goes for all pods, whatever the configuration says,', () => {
  it.each<[string, DrainPhase | undefined, readonly (boolean | undefined)[], boolean]>([
    ['if one of its requests does', { kind: 'draining' }, [undefined, true], true],
    ['if it has not begun', undefined, [true], true],
    ['while it waits', { kind: 'waiting', since: NOW, takesSlot: false }, [true], true],
    ['not if none of its requests does', { kind: 'draining' }, [undefined, false], false],
    ['not if a controller carries it out', { kind: 'custom', resource: RESOURCE }, [true], false],
    ['not if a controller has given it up', FALLBACK, [true], false],
    ['as it was when its end was decided', endingPhase(active({ phase: FALLBACK }), OUTCOME, NOW), [true], false],
  ])('%s', (_, phase, all, expected) => {
    const requests = all.map((allPods, index) => ({ ...request(`e${index}`), ...(allPods !== undefined && { allPods }) })); // prettier-ignore
    expect(goesForAllPods({ requests, phase })).toBe(expected);
  });
});
