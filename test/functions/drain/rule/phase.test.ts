/** What the phase of a drain says of its requests. */
import { describe, expect, it } from 'vitest';
import { endingPhase, goesForAllPods, remainingRequests } from '../../../../functions/drain/rule/phase.ts';
import type { IncomingMessage } from '../../../../functions/drain/rule/observation.ts';
import type { DrainPhase, DrainRecord } from '../../../../functions/drain/record.ts';
import { active, asking, NOW, observation, request, RESOURCE } from '../observations.ts';

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

describe('what is asked of a node', () => {
  const waiting: Partial<DrainRecord> = { requests: [request('w1'), request('w2')] };
  const underWay: Partial<DrainRecord> = { ...waiting, active: active({ requests: [request('a1'), request('a2')] }) };

  it.each<[string, Partial<DrainRecord>, IncomingMessage | undefined, readonly string[]]>([
    ['is nothing where nobody asks', {}, undefined, []],
    ['is what waits', waiting, undefined, ['w1', 'w2']],
    ['is the message besides', waiting, asking(request('m')), ['w1', 'w2', 'm']],
    ['is what the drain under way is for, and not what waits', underWay, asking(request('m')), ['a1', 'a2']],
    ['is not what is called off', waiting, { kind: 'cancelled', id: 'w1' }, ['w2']],
    ['is not what a person takes back', waiting, { kind: 'withdrawn', id: 'w2' }, ['w1']],
    ['is not what is called off of the drain under way', underWay, { kind: 'cancelled', id: 'a2' }, ['a1']],
    ['stays where another request is called off', waiting, { kind: 'cancelled', id: 'a1' }, ['w1', 'w2']],
    ['stays where the quarantine of a node ends', waiting, { kind: 'unQuarantined' }, ['w1', 'w2']],
  ])('%s', (_, record, incoming, expected) => {
    expect(remainingRequests(observation({ record, incoming })).map(({ id }) => id)).toEqual(expected);
  });
});
