import { describe, expect, it } from 'vitest';
import {
  CALL_FAULTS,
  FAULT_MIXES,
  MESSAGE_FAULTS,
  WATCH_FAULTS,
  withClocksAhead,
} from '../../../simulator/faults/mix.ts';
import { CONVERGENCE } from '../../../simulator/run.ts';
import { formatLine } from '../../../simulator/trace.ts';
import { complaints, GATE, nodeObjects, simulate } from '../simulate.ts';
import { withoutStacks } from '../../builders/without-stacks.ts';

withoutStacks();

const NODES = ['a', 'b', 'c', 'd', 'e', 'f'];
const sickNodes = `${GATE}  objects:\n${NODES.map(name => nodeObjects(name)).join('')}`;
const ONCE_EACH = NODES.map(
  name => `    - { write: { verb: delete, resource: nodeclaims, name: ${name} }, times: 1 }\n`,
).join('');

describe('a run with faults', () => {
  it('gives the same trace for the same seed, byte for byte, and another for another', async () => {
    const text = async (seed: number): Promise<string> =>
      (await simulate(sickNodes, { seed, faults: 'heavy' })).trace.map(formatLine).join('\n');
    const first = await text(7);
    expect(await text(7)).toBe(first);
    expect(await text(8)).not.toBe(first);
  });

  /** The swarm has many more, on random clusters. */
  const SEEDS = [1, 2, 3, 4];

  it.each(['light', 'heavy'] as const)('repairs each node once under %s faults, and violates nothing', async faults => {
    for (const seed of SEEDS) {
      const result = await simulate(`${sickNodes}  expect:\n${ONCE_EACH}`, { seed, faults });
      expect({ seed, violations: result.violations, complaints: complaints(result) }).toEqual({
        seed,
        violations: [],
        complaints: [],
      });
    }
  });

  it('violates nothing with clocks that are ahead either', async () => {
    for (const seed of SEEDS) {
      const { violations } = await simulate(sickNodes, { seed, faults: withClocksAhead(FAULT_MIXES.heavy) });
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  it('meets every kind of fault', async () => {
    const expected = [
      ...CALL_FAULTS,
      ...MESSAGE_FAULTS,
      ...WATCH_FAULTS,
      'latency',
      'busEntry',
      'staleIndex',
      'forwarderRestart',
      'outage',
    ];
    const met = new Set<string>();
    for (let seed = 1; seed <= 8 && met.size < expected.length; seed++) {
      const { faults } = await simulate(`  duration: 6h\n${sickNodes}`, { seed, faults: 'heavy' });
      for (const kind of faults.keys()) met.add(kind);
    }
    expect([...met].toSorted()).toEqual(expected.toSorted());
  });

  it('goes on without faults for a while, so that what is due can happen', async () => {
    const { simulated } = await simulate(sickNodes, { faults: 'light' });
    expect(simulated).toBe(3_600_000 + CONVERGENCE);
  });

  it('does not depend on the seed without faults', async () => {
    const traces = await Promise.all(
      [1, 2].map(async seed => (await simulate(sickNodes, { seed })).trace.map(formatLine)),
    );
    expect(traces[0]).toEqual(traces[1]);
  });
});
