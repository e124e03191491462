import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../../../shared/adapters/kubernetes/lines.ts';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
}

describe('readLines', () => {
  it('yields the same lines wherever the network cuts them, also inside a character', async () => {
    const line = fc.string({ unit: 'binary', minLength: 1 }).map(text => JSON.stringify(text));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map(each => `${each}\n`).join(''));
        const inside = cuts.map(cut => cut % (bytes.length + 1));
        expect(await Array.fromAsync(readLines(chunksOf(bytes, inside)))).toEqual(lines);
      }),
    );
  });

  it('drops what follows the last line break and skips empty lines', async () => {
    const bytes = Buffer.from('{"a":1}\n\n\r\n{"b":2}\n{"half"');
    expect(await Array.fromAsync(readLines(chunksOf(bytes, [9])))).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('refuses a line without end', async () => {
    await expect(Array.fromAsync(readLines(chunksOf(Buffer.alloc(100, 'x'), [10, 50]), 64))).rejects.toBeInstanceOf(
      RangeError,
    );
  });
});
