import fc from 'fast-check';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BrokenStream, readLines } from '../../../../shared/adapters/kubernetes/lines.ts';
import { anyText } from '../../../builders/any-text.ts';

function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Readable {
  const ends = [...cuts, bytes.length].toSorted((a, b) => a - b);
  const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  return Readable.from(chunks.filter(chunk => chunk.length > 0));
}

describe('readLines', () => {
  it('yields the same lines wherever the network cuts them, also inside a character', async () => {
    const line = anyText({ minLength: 1 }).map(text => JSON.stringify(text));
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
    const lines = readLines(chunksOf(Buffer.alloc(100, 'x'), [10, 50]), { maxChars: 64 });
    await expect(Array.fromAsync(lines)).rejects.toBeInstanceOf(RangeError);
  });

  it('yields what came before the stream broke, then throws what broke it', async () => {
    const stream = new PassThrough();
    const lines = readLines(stream);
    const first = lines.next();
    stream.write('a\n');
    expect(await first).toEqual({ done: false, value: 'a' });
    const cause = new Error('read ECONNRESET');
    stream.destroy(cause);
    const broken = lines.next();
    await expect(broken).rejects.toBeInstanceOf(BrokenStream);
    await expect(broken).rejects.toMatchObject({ cause });
  });

  it('counts a stream that is closed before its end as broken', async () => {
    const stream = new PassThrough();
    const next = readLines(stream).next();
    stream.write('a');
    stream.destroy();
    await expect(next).rejects.toMatchObject({ cause: { code: 'ERR_STREAM_PREMATURE_CLOSE' } });
  });

  it('reads no further while its reader is busy, and lets go of the stream when the reader stops', async () => {
    const stream = new PassThrough({ highWaterMark: 4 });
    stream.write('a\n');
    for await (const line of readLines(stream)) {
      expect(line).toBe('a');
      expect(stream.isPaused()).toBe(true);
      break;
    }
    expect(stream.destroyed).toBe(true);
  });
});
