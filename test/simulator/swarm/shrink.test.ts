import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
