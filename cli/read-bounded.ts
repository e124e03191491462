/** Reads a file or stream within a limit, also one that has no end, such as a device. */
import { open, stat } from 'node:fs/promises';
import { UsageError } from './usage-error.ts';

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

/** Folders in which shells keep the pipes of their `<(command)`: these have a writer. */
const PIPE_OF_SHELL = /^\/(?:dev|proc)\//;

/** The size of a file, 0 where it is not known before it is read. Throws `UsageError` for a named pipe: it waits for a writer. */
export async function sizeOf(file: string): Promise<number> {
  const found = await stat(file);
  if (found.isFIFO() && !PIPE_OF_SHELL.test(file)) {
    throw new UsageError(`${file} is a named pipe; give a file, or - for standard input`);
  }
  return found.size;
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
