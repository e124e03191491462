import { describe, expect, it } from 'vitest';
import { durationBetween, hours } from '../../../shared/domain/time.ts';
import { FLEETS_FROM } from '../../../simulator/swarm/generate/fleets.ts';
import { trialOf } from '../../../simulator/swarm/seed.ts';

const FLEETS = [0, 1, 2, 3, 4, 5].map(index => trialOf(FLEETS_FROM + index).scenario);
const named = (kind: string, { objects }: (typeof FLEETS)[number]): readonly string[] =>
  objects.flatMap(({ manifest }) => (manifest.kind === kind ? [manifest.name] : []));

describe('fleets', () => {
  it.each(FLEETS)('$name has hundreds of nodes over days, and each name once', fleet => {
    const nodes = named('Node', fleet);
    expect(nodes.length).toBeGreaterThanOrEqual(250);
    expect(nodes.length).toBeLessThanOrEqual(2_100);
    expect(new Set(nodes).size).toBe(nodes.length);
    expect(durationBetween(fleet.start, fleet.end)).toBeGreaterThanOrEqual(hours(96));
    expect(durationBetween(fleet.start, fleet.end)).toBeLessThanOrEqual(hours(240));
  });

  it('are the same for a seed each time', () => {
    expect(trialOf(FLEETS_FROM).scenario).toEqual(FLEETS[0]);
  });

  it('have steps in order of time, until shortly before the end', () => {
    for (const { steps, end } of FLEETS) {
      const times = steps.map(({ time }) => time);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.every(time => time < end)).toBe(true);
    }
  });

  // What it is asked for a day in vain ends in the dead letters, with its reason (I9).
  it('have EC2 answer again within a day', () => {
    const failures = FLEETS.flatMap(({ steps, end }) =>
      steps.flatMap(({ time, action }) => {
        if (action.kind !== 'cloud' || action.fail === undefined || action.fail === 'none') return [];
        const { providerID } = action;
        const over = steps.find(
          ({ time: later, action: other }) =>
            later > time && other.kind === 'cloud' && other.providerID === providerID && other.fail === 'none',
        );
        return [{ providerID, lasts: durationBetween(time, over?.time ?? end) }];
      }),
    );
    expect(failures).not.toEqual([]);
    expect(failures.filter(({ lasts }) => lasts >= hours(24))).toEqual([]);
  });

  it('are about every concern', () => {
    const specs = FLEETS.flatMap(({ objects }) =>
      objects.flatMap(({ manifest: { kind, body } }) => (kind === 'NodeLifecyclePolicy' ? [JSON.stringify(body)] : [])),
    );
    for (const concern of ['repair', 'termination', 'protection', 'drain'])
      expect(specs.some(spec => spec.includes(`"${concern}"`))).toBe(true);
    expect(FLEETS.some(fleet => named('FinalizerRule', fleet).length > 0)).toBe(true);
  });
});
