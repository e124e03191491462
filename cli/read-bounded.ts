/** Reads a file or stream within a limit, also one that has no end, such as a device. */
import { open } from 'node:fs/promises';

const CHUNK_BYTES = 1 << 20;

/** All bytes of a stream; undefined when there are more than `limit`. */
export async function readStream(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The bytes of a file; undefined when there are more than `limit`. */
export async function readBounded(file: string, limit: number): Promise<Buffer | undefined> {
  await using handle = await open(file);
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    length += bytesRead;
    if (length > limit) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}
