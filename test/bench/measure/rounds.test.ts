import { describe, expect, it } from 'vitest';
import { measureInterleaved } from '../../../bench/measure/rounds.ts';

function countingVariants() {
  const order: string[] = [];
  const measure = (name: string) => async () => order.push(name);
  return { order, variants: { a: measure('a'), b: measure('b') } };
}

describe('measureInterleaved', () => {
  it('measures every variant in every round, each one first in turn', async () => {
    const { order, variants } = countingVariants();
    await measureInterleaved(variants, { rounds: 3 });
    expect(order.join('')).toBe('abbaab');
  });

  it('drops the samples of warm-up rounds and keeps the order of the others', async () => {
    const { variants } = countingVariants();
    const samples = await measureInterleaved(variants, { rounds: 2, warmUpRounds: 1 });
    expect(Object.fromEntries(samples)).toEqual({ a: [4, 5], b: [3, 6] });
  });

  it('tells how far it is, warm-up included', async () => {
    const seen: string[] = [];
    const { variants } = countingVariants();
    await measureInterleaved(variants, {
      rounds: 1,
      warmUpRounds: 1,
      onRound: (done, of) => seen.push(`${done}/${of}`),
    });
    expect(seen).toEqual(['1/2', '2/2']);
  });
});
