import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import type { ScenarioFault, Step } from '../../../simulator/scenario/scenario.ts';
import { DRAIN_DEFINITION, DRAIN_NAMESPACE, DRAIN_REQUESTS } from '../../../simulator/swarm/generate/drains.ts';
import { GENERATED, place } from '../../../simulator/swarm/generate/model.ts';
import { printTrial } from '../../../simulator/swarm/trial-file.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import type { FaultKind } from '../../../simulator/faults/mix.ts';
import type { Failure, Trial } from '../../../simulator/swarm/seed.ts';
import { trialOf } from '../../../simulator/swarm/seed.ts';
import { reduce, shrink } from '../../../simulator/swarm/shrink.ts';
import { simplify } from '../../../simulator/swarm/simplify.ts';

describe('reduce', () => {
  it('leaves exactly what the failure needs, whatever that is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(99), { maxLength: 6 }),
        fc.integer({ min: 100, max: 140 }),
        async (needed, count) => {
          const items = Array.from({ length: count }, (_, index) => index);
          const kept = await reduce(items, async rest => needed.every(item => rest.includes(item)));
          expect(kept).toEqual(needed.toSorted((a, b) => a - b));
        },
      ),
    );
  });
});

describe('simplify', () => {
  it('leaves out fields and list items, but for what identifies the object and what is needed', async () => {
    const body = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { a: 'b', c: 'd' }, finalizers: ['x', 'y'] },
      spec: { providerID: 'i-1' },
      status: { conditions: [{ type: 'A' }, { type: 'B', status: 'True' }, { type: 'C' }] },
    };
    const simpler = await simplify(body, async candidate => JSON.stringify(candidate).includes('"type":"B"'));
    expect(simpler).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { conditions: [{ type: 'B' }] },
    });
  });
});

const catalog = clusterCatalog();
const DRAINED = [DRAIN_DEFINITION];

/** What `curfew validate` finds in the trial's file. */
function faultsOf(trial: Trial): readonly ScenarioFault[] {
  const failure: Failure = { invariant: 'I3', time: trial.scenario.end, message: 'too early' };
  const parsed = parseScenarios(printTrial(trial, failure, 'trial.yaml'), 'trial.yaml', catalog);
  return parsed.ok ? parsed.scenarios.flatMap(({ doubts }) => doubts) : parsed.faults;
}

describe('shrink', () => {
  const seed = 2;
  const trial = {
    ...trialOf(seed, 'heavy'),
    faults: { mix: 'heavy', without: [], more: [], clocksAhead: false },
  } as const satisfies Trial;
  const needed = trial.scenario.steps[5];
  const at = (time: Failure['time']): Failure => ({ invariant: 'I3', time, message: 'too early' });

  it('keeps one step and one fault when they alone break the invariant', async () => {
    const first = at(trial.scenario.end);
    const shrunk = await shrink(
      trial,
      first,
      async ({ scenario, faults }) => {
        const hasFault = faults.mix !== 'none' && !faults.without.includes('lostResponse');
        return hasFault && scenario.steps.some(step => step.action === needed?.action) ? first : undefined;
      },
      2000,
    );
    expect(shrunk.trial.scenario.steps).toEqual([needed]);
    expect(shrunk.trial.scenario.objects).toEqual([]);
    const kinds: readonly FaultKind[] = shrunk.trial.faults.without;
    expect(kinds).not.toContain('lostResponse');
    expect(kinds).toContain('throttled');
    expect(kinds).toContain('outage');
  });

  it('leaves a valid file, whatever the failure needs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), fc.nat(), async (drawn, chosen) => {
        const { scenario, faults } = trialOf(drawn, 'none');
        const ofOthers = scenario.steps.filter(
          ({ action: each }) => 'target' in each && each.target.resource.includes('.'),
        );
        const steps = ofOthers.length > 0 ? ofOthers : scenario.steps;
        const action = steps[chosen % Math.max(1, steps.length)]?.action;
        const shrunk = await shrink(
          { seed: drawn, scenario, faults },
          at(scenario.end),
          async candidate => {
            const needs = (step: Step): boolean => step.action === action;
            return action === undefined || candidate.scenario.steps.some(needs)
              ? at(candidate.scenario.end)
              : undefined;
          },
          60,
        );
        expect(faultsOf(shrunk.trial)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('does not take what is no valid file any more: the scope of a kind whose objects have a namespace stays', async () => {
    const { scenario, faults } = trialOf(5, 'none');
    const objects = DRAINED.map(manifest => place(manifest));
    const step: Step = {
      time: scenario.start,
      action: { kind: 'delete', target: { resource: DRAIN_REQUESTS, namespace: DRAIN_NAMESPACE, name: 'd' } },
      place: GENERATED,
    };
    const shrunk = await shrink(
      { seed: 5, scenario: { ...scenario, objects, steps: [step] }, faults },
      at(scenario.end),
      async candidate => (candidate.scenario.steps.length === 1 ? at(scenario.end) : undefined),
      2000,
    );
    expect(shrunk.trial.scenario.objects.map(({ manifest }) => manifest.body)).toMatchObject([
      { kind: 'CustomResourceDefinition', spec: { scope: 'Namespaced' } },
    ]);
  });

  it('does not take another failure for the same', async () => {
    const shrunk = await shrink(
      trial,
      at(trial.scenario.end),
      async () => ({ ...at(trial.scenario.end), invariant: 'I5' }),
      300,
    );
    expect(shrunk.trial).toEqual(trial);
  });

  it('takes a seed that still fails where the own one does not', async () => {
    const first = at(trial.scenario.end);
    const shrunk = await shrink(
      trial,
      first,
      async candidate => {
        const isWhole = candidate.scenario.steps.length === trial.scenario.steps.length;
        return isWhole || candidate.seed === 1 ? first : undefined;
      },
      2000,
    );
    expect(shrunk.trial.seed).toBe(1);
    expect(shrunk.trial.scenario.steps).toEqual([]);
  });

  it('ends after about the number of runs it is given', async () => {
    const first = at(trial.scenario.end);
    let runs = 0;
    const count = async (): Promise<Failure> => {
      runs += 1;
      return first;
    };
    await shrink(trial, first, count, 10);
    expect(runs).toBe(10);
  });
});
