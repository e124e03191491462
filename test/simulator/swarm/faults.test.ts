import { describe, expect, it } from 'vitest';
import { FAULT_MIXES } from '../../../simulator/faults/mix.ts';
import { drawFaults, kindsOf, NO_FAULTS, toFaultMix } from '../../../simulator/swarm/faults.ts';

describe('the faults of a seed', () => {
  it('are the same for the same seed, and differ between seeds', () => {
    expect(drawFaults(3)).toEqual(drawFaults(3));
    const mixes = Array.from({ length: 40 }, (_, seed) => drawFaults(seed).mix);
    expect(new Set(mixes)).toEqual(new Set(['none', 'light', 'heavy']));
  });

  it('are of one mix when that is asked for', () => {
    const mixes = Array.from({ length: 20 }, (_, seed) => drawFaults(seed, 'light').mix);
    expect(new Set(mixes)).toEqual(new Set(['light']));
  });

  it('leave out kinds without a change to the others', () => {
    const mix = toFaultMix({ mix: 'heavy', without: ['throttled', 'outage'], more: [], clocksAhead: false });
    const { heavy } = FAULT_MIXES;
    expect(mix).toEqual({
      ...heavy,
      probability: { ...heavy.probability, throttled: 0 },
      perHour: { ...heavy.perHour, outage: 0 },
    });
  });

  it('are a mix by its name when nothing is left out', () => {
    expect(toFaultMix(NO_FAULTS)).toBe('none');
    expect(toFaultMix({ mix: 'light', without: [], more: [], clocksAhead: false })).toBe('light');
  });

  it('let clocks run ahead in some runs with faults, and in none without', () => {
    const drawn = Array.from({ length: 60 }, (_, seed) => drawFaults(seed));
    const ahead = drawn.filter(({ clocksAhead }) => clocksAhead);
    expect(ahead.length).toBeGreaterThan(0);
    expect(ahead.length).toBeLessThan(drawn.length);
    expect(ahead.map(({ mix }) => mix)).not.toContain('none');
    expect(toFaultMix({ mix: 'light', without: [], more: [], clocksAhead: true })).toMatchObject({
      ...FAULT_MIXES.light,
      clockSkew: { behind: 2000, ahead: 2000 },
    });
  });

  it('make some kinds far more frequent, up to a bound, but none that is left out', () => {
    const more = toFaultMix({
      mix: 'heavy',
      without: ['delay'],
      more: ['crashAfter', 'latency', 'delay'],
      clocksAhead: false,
    });
    expect(more).toMatchObject({
      probability: { ...FAULT_MIXES.heavy.probability, crashAfter: 0.08, latency: 0.3, delay: 0 },
    });
    const drawn = Array.from({ length: 60 }, (_, seed) => drawFaults(seed));
    expect(drawn.some(({ more }) => more.length > 0)).toBe(true);
    expect(drawn.flatMap(({ more, without }) => more.filter(kind => without.includes(kind)))).toEqual([]);
  });

  it('know every kind that a mix can inject', () => {
    expect(kindsOf('none')).toEqual([]);
    expect(kindsOf('heavy')).toEqual(
      expect.arrayContaining(['throttled', 'duplicate', 'watchStall', 'busEntry', 'outage']),
    );
  });
});
