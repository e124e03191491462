/** Reading an answer by its events. Iterating over a stream (`for await`, `node:stream/consumers`) costs as much as the rest of a small answer. */
import { isAscii } from 'node:buffer';
import type { Readable } from 'node:stream';

/** Calls `onChunk` with each piece; resolves at the end. Rejects with what the stream fails with, or what `onChunk` throws, which ends it. */
export function readChunks(body: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      try {
        onChunk(chunk);
      } catch (error) {
        reject(error);
        body.destroy();
      }
    });
    body.once('end', resolve);
    body.once('error', reject);
    body.once('close', () => {
      // An Error takes its stack when it is made, which costs more than to ask.
      if (!body.readableEnded) reject(new Error('the stream was closed before its end'));
    });
  });
}

/** The whole of a stream as text. Rejects with what the stream fails with. */
export async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  await readChunks(body, chunk => chunks.push(chunk));
  return toText(chunks);
}

/** The text of all pieces together. */
export function toText(chunks: readonly Buffer[]): string {
  const [only, ...others] = chunks;
  const bytes = others.length === 0 ? only : Buffer.concat(chunks);
  if (bytes === undefined) return '';
  // Nearly all answers are ASCII, which is decoded in a quarter of the time.
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
}
