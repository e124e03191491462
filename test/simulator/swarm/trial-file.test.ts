import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { trialOf, type Failure } from '../../../simulator/swarm/seed.ts';
import { faultsFor, printTrial, toTrial } from '../../../simulator/swarm/trial-file.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';

const failure: Failure = { invariant: 'I5', time: trialOf(1).scenario.start, message: 'late' };

function parse(text: string): Scenario {
  const parsed = parseScenarios(text, 'trial.yaml', clusterCatalog());
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const [scenario] = parsed.scenarios;
  if (scenario === undefined) throw new Error('the file is empty');
  return scenario;
}

describe('a trial as a file', () => {
  it('is the same trial when it is read again', () => {
    for (const faults of [
      { mix: 'heavy', without: ['delay', 'outage'], more: ['throttled', 'duplicate'], clocksAhead: true },
      { mix: 'light', without: [], more: [], clocksAhead: false },
      { mix: 'none', without: [], more: [], clocksAhead: false },
    ] as const) {
      const trial = { ...trialOf(7), faults };
      const read = toTrial(parse(printTrial(trial, failure, 'trial.yaml')));
      expect(read.seed).toBe(7);
      expect(read.faults).toEqual(faults);
      expect(read.scenario.steps.map(({ time, action }) => ({ time, action }))).toEqual(
        trial.scenario.steps.map(({ time, action }) => ({ time, action })),
      );
    }
  });

  it('has no clocks ahead where there are no faults', () => {
    expect(faultsFor({ annotations: { 'sim.curfew.dev/clocks-ahead': 'true' } }, 'none').clocksAhead).toBe(false);
  });
});
