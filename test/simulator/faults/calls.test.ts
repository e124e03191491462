import { describe, expect, it } from 'vitest';
import { createLifetime } from '../../../runtime/lifetime.ts';
import { withFaults } from '../../../simulator/faults/calls.ts';
import { createFaultInjector } from '../../../simulator/faults/injector.ts';
import { CALL_FAULTS, type CallFault, type FaultMix } from '../../../simulator/faults/mix.ts';
import { createRandom } from '../../../simulator/random.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { addDuration, minutes, toEpochMs } from '../../../shared/domain/time.ts';
import { NO_FAULTS } from './no-faults.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1));
const always = (kind: CallFault | 'latency'): FaultMix => ({
  ...NO_FAULTS,
  probability: { ...NO_FAULTS.probability, [kind]: 1 },
});

/** Makes one call of `method` under a mix and tells what became of it within a minute. */
async function callUnder(mix: FaultMix, method: 'write' | 'read' = 'write') {
  const time = createVirtualTime({ start: START });
  const injector = createFaultInjector(mix, createRandom(1));
  const lifetime = createLifetime();
  const performed: number[] = [];
  const perform = async (): Promise<string> => {
    performed.push(time.now() - START);
    return 'done';
  };
  const port = withFaults(
    { write: perform, read: perform },
    { name: 'api', writes: ['write'], conflict: () => 'conflict' },
    { injector, scheduler: time, lifetime },
  );
  let fate: unknown = 'never answered';
  port[method]().then(
    value => (fate = value),
    (error: { reason: string; outcomeUnknown: boolean }) => (fate = [error.reason, error.outcomeUnknown]),
  );
  await time.runUntil(addDuration(START, minutes(1)));
  return { fate, performed, alive: lifetime.alive, counts: Object.fromEntries(injector.counts) };
}

describe('withFaults', () => {
  it.each<[CallFault, unknown, number, boolean]>([
    ['throttled', ['TooManyRequests', false], 0, true],
    ['serverError', ['Status503', true], 0, true],
    ['timeout', ['Timeout', true], 0, true],
    ['lostResponse', ['ECONNRESET', true], 1, true],
    ['conflict', 'conflict', 0, true],
    ['crashBefore', 'never answered', 0, false],
    ['crashAfter', 'never answered', 1, false],
    ['crashInFlight', 'never answered', 1, false],
  ])('%s', async (kind, fate, effects, alive) => {
    const result = await callUnder(always(kind));
    expect(result.fate).toEqual(fate);
    expect(result.performed).toHaveLength(effects);
    expect(result.alive).toBe(alive);
    expect(result.counts).toEqual({ [kind]: 1 });
  });

  it('covers every kind', () => {
    expect(CALL_FAULTS).toHaveLength(8);
  });

  it('lets a call that outlives its sender take effect later', async () => {
    const { performed } = await callUnder({
      ...always('crashInFlight'),
      probability: { ...always('crashInFlight').probability },
    });
    expect(performed[0]).toBeGreaterThan(0);
  });

  it('says of a read that it had no effect', async () => {
    expect((await callUnder(always('timeout'), 'read')).fate).toEqual(['Timeout', false]);
  });

  it('makes calls slow, before and after', async () => {
    const { fate, performed } = await callUnder(always('latency'));
    expect(fate).toBe('done');
    expect(performed[0]).toBeGreaterThan(0);
  });

  it('does nothing without faults', async () => {
    expect(await callUnder(NO_FAULTS)).toEqual({ fate: 'done', performed: [0], alive: true, counts: {} });
  });
});
