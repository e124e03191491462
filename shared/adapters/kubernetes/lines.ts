/** Byte chunks to lines: a watch stream is one JSON text per line, cut anywhere by the network. */

/** Objects are at most a few MB in the API server; a longer line is no watch event. */
export const MAX_LINE_CHARS = 16 * 1024 * 1024;

const NONE = (): boolean => false;

/**
 * Yields each complete, non-empty line that `passOver` does not answer true for. What follows the last line break is dropped: the connection ended in the middle of an
 * event, which the next watch delivers again. Throws a RangeError for a line above `maxChars`.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxChars: number = MAX_LINE_CHARS,
  passOver: (line: string) => boolean = NONE,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let restChars = 0;
  for await (const chunk of chunks) {
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n');
    rest.push(first);
    restChars += first.length;
    for (const next of more) {
      const line = rest.join('').trim();
      rest = [next];
      restChars = next.length;
      if (line !== '' && !passOver(line)) yield line;
    }
    if (restChars > maxChars) throw new RangeError(`a line is longer than ${maxChars} characters`);
  }
}
