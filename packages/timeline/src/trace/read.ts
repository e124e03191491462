/** Reads a trace, or an audit log, from its lines: what is no line of ours is left out and counted, what cannot be read at all is said. */
import { TRACE_VERSION, traceLine, type TraceHeader, type TraceLine } from './lines.ts';

export interface ReadTrace {
  readonly lines: readonly TraceLine[];
  /** The line that says what it is of; missing in an audit log. */
  readonly header: TraceHeader | undefined;
  /** Lines of others, and those that nobody can read; the first of them, for the message. */
  readonly leftOut: number;
  readonly firstLeftOut: { readonly number: number; readonly why: string } | undefined;
}

/** Why a trace cannot be used, in one sentence. */
export class UnreadableTrace extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableTrace';
  }
}

export interface ReadOptions {
  /** Turns what stands in a line into a line of a trace, for logs that wrap it; undefined: the line is somebody else's. */
  readonly translate?: (value: unknown) => unknown;
  /** Which lines are wanted; a large log is cut down while it is read. */
  readonly keeps?: (line: TraceLine) => boolean;
  /** The last part alone: how far before its newest line, in milliseconds. */
  readonly span?: number;
  /** Most characters of the lines that are kept. */
  readonly longest?: number;
}

/** @throws UnreadableTrace for another version, half a trace, more lines than are wanted, and what has no line of a trace at all */
export async function readTrace(
  lines: AsyncIterable<string> | Iterable<string>,
  { translate = value => value, keeps = () => true, span = Infinity, longest = Infinity }: ReadOptions = {},
): Promise<ReadTrace> {
  const kept = new LatestLines(span, longest);
  let header: TraceHeader | undefined;
  let isEnded = false;
  let leftOut = 0;
  let firstLeftOut: ReadTrace['firstLeftOut'];
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const answer = readLine(text, translate);
    if (typeof answer === 'string') {
      leftOut += 1;
      firstLeftOut ??= { number, why: answer };
      continue;
    }
    if (answer.kind === 'trace') {
      if (header !== undefined) throw new UnreadableTrace(`line ${number} begins a second trace: give one run a file`);
      header = answer;
    }
    isEnded ||= answer.kind === 'end';
    if (keeps(answer)) kept.add(answer, text.length);
  }
  const found = kept.lines();
  if (found.length === 0) {
    const why = firstLeftOut === undefined ? 'it is empty' : `line ${firstLeftOut.number}: ${firstLeftOut.why}`;
    throw new UnreadableTrace(`this holds no line of a trace or an audit log: ${why}`);
  }
  if (header?.source === 'simulation' && !isEnded)
    throw new UnreadableTrace('the trace is cut off: its last line, of kind end, is missing');
  return { lines: found, header, leftOut, firstLeftOut };
}

/** Lines of the last part; only of that part is there a limit. */
class LatestLines {
  readonly #span: number;
  readonly #longest: number;
  #kept: { readonly line: TraceLine; readonly time: number; readonly length: number }[] = [];
  #length = 0;
  #newest = -Infinity;

  constructor(span: number, longest: number) {
    this.#span = span;
    this.#longest = longest;
  }

  add(line: TraceLine, length: number): void {
    const time = Date.parse(line.t);
    this.#kept.push({ line, time, length });
    this.#length += length;
    if (line.kind !== 'trace') this.#newest = Math.max(this.#newest, time);
    if (this.#length <= this.#longest) return;
    this.#drop();
    if (this.#length > this.#longest)
      throw new UnreadableTrace(
        `its lines have more than ${this.#longest / 1e6} MB, which is the most that a page takes`,
      );
  }

  lines(): readonly TraceLine[] {
    this.#drop();
    return this.#kept.map(({ line }) => line);
  }

  #drop(): void {
    this.#kept = this.#kept.filter(({ line, time }) => line.kind === 'trace' || time >= this.#newest - this.#span);
    this.#length = this.#kept.reduce((sum, { length }) => sum + length, 0);
  }
}

/** The line, or why it is none. */
function readLine(text: string, translate: (value: unknown) => unknown): TraceLine | string {
  let value: unknown;
  try {
    value = translate(JSON.parse(text));
  } catch {
    return 'it is no JSON';
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return 'it has no kind of a trace line';
  if (value.kind === 'trace' && 'version' in value && value.version !== TRACE_VERSION) {
    throw new UnreadableTrace(
      `this is a trace of version ${String(value.version)}, and this curfew reads version ${TRACE_VERSION}: write it again`,
    );
  }
  const parsed = traceLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`;
}
