/** What functions print, line by line. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isObject } from './json-object.ts';

export interface LogLine {
  /** The function's name (`repair`). */
  readonly function: string;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** The line's JSON object, when it is one: structured logs, audit lines, embedded metrics. Read when it is asked for. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
}

/** A line is parsed as JSON when its `record` is first read. */
export function readLogLines(
  input: Readable,
  about: Pick<LogLine, 'function' | 'stream'>,
  onLog: (line: LogLine) => void,
): void {
  createInterface({ input, crlfDelay: Infinity }).on('line', text => {
    let parsed: { readonly record: LogLine['record'] } | undefined;
    onLog({
      ...about,
      text,
      get record() {
        parsed ??= { record: parseRecord(text) };
        return parsed.record;
      },
    });
  });
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
