/** Bytes to lines: a watch stream is one JSON text per line, cut anywhere by the network. */
import { finished, type Readable } from 'node:stream';

/** Objects are at most a few MB in the API server; a longer line is no watch event. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** The stream failed, or ended before its end. */
export class BrokenStream extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Yields each complete, non-empty line. What follows the last line break is dropped: the connection ended in the middle of an
 * event, which the next watch delivers again. Throws `BrokenStream`, or a RangeError for a line above `maxChars`. Destroys the
 * stream when its reader stops.
 */
export async function* readLines(
  stream: Readable,
  { maxChars = MAX_LINE_CHARS }: { readonly maxChars?: number } = {},
): AsyncGenerator<string, void, undefined> {
  const split = createSplitter(maxChars);
  let lines: string[] = [];
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;

  stream.on('data', (chunk: Uint8Array) => {
    try {
      lines.push(...split(chunk));
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error));
    }
    if (lines.length === 0 && failure === undefined) return;
    stream.pause();
    wake();
  });
  const forget = finished(stream, { writable: false }, error => {
    ended = true;
    if (error) failure ??= new BrokenStream(error);
    wake();
  });
  try {
    for (;;) {
      while (lines.length > 0) {
        const taken = lines;
        lines = [];
        yield* taken;
      }
      // From here to the wait nothing else runs: whatever comes finds somebody to wake.
      if (failure !== undefined) throw failure;
      if (ended) return;
      stream.resume();
      await new Promise<void>(resolve => (wake = resolve));
    }
  } finally {
    forget();
    stream.destroy();
  }
}

/** Answers the lines that a chunk completes; keeps what follows the last line break. */
function createSplitter(maxChars: number): (chunk: Uint8Array) => readonly string[] {
  const decoder = new TextDecoder();
  let lineParts: string[] = [];
  let restChars = 0;
  return chunk => {
    const complete: string[] = [];
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
    lineParts.push(first);
    restChars += first.length;
    for (const next of more) {
      const line = lineParts.join('').trim();
      lineParts = [next];
      restChars = next.length;
      if (line !== '') complete.push(line);
    }
    if (restChars > maxChars) throw new RangeError(`a line is longer than ${maxChars} characters`);
    return complete;
  };
}
