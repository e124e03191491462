/** Reads a history as lines of a trace: from a file, or from the logs of a deployment. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { TRACE_VERSION, type TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import {
  readTrace,
  UnreadableTrace,
  type ReadOptions,
  type ReadTrace,
} from '../../packages/timeline/src/trace/read.ts';
import { sizeOf } from '../read-bounded.ts';
import { UsageError } from '../usage-error.ts';
import { toAuditLine } from './log-line.ts';

export interface History {
  readonly lines: readonly TraceLine[];
  /** Remarks on how the lines were read. */
  readonly notices: readonly string[];
}

export interface HistoryQuery {
  /** Milliseconds before the newest line. */
  readonly span?: number | undefined;
  /** Lines about one node alone. */
  readonly node?: string | undefined;
}

/** A page holds its lines, and a browser reads them at once. */
const MAX_CHARACTERS = 64_000_000;
/** The longest line; CloudWatch takes no more than 1 MB. A longer one is cut, so it is no JSON. */
const LONGEST_LINE = 16_000_000;
const SHORTER = 'give a shorter time with --since, or one node with --node';

/** Throws `UsageError`. */
export async function historyOfFile(file: string, wanted: HistoryQuery): Promise<History> {
  const bytes = await sizeOf(file);
  if (bytes > MAX_CHARACTERS && wanted.span === undefined && wanted.node === undefined) {
    throw new UsageError(
      `${file} has ${(bytes / 1e6).toFixed(0)} MB, and a page takes ${MAX_CHARACTERS / 1e6} MB: ${SHORTER}`,
    );
  }
  return historyOf(linesOf(createReadStream(file, 'utf8'), LONGEST_LINE), basename(file), wanted);
}

/**
 * @param name of what is read
 * @throws UsageError
 */
export async function historyOf(
  texts: AsyncIterable<string>,
  name: string,
  { span, node, longest = MAX_CHARACTERS }: HistoryQuery & Pick<ReadOptions, 'longest'>,
): Promise<History> {
  let read: ReadTrace;
  let others = 0;
  const keeps = (line: TraceLine): boolean => {
    const isKept = node === undefined || isAbout(line, node);
    if (!isKept) others += 1;
    return isKept;
  };
  try {
    read = await readTrace(texts, {
      translate: toAuditLine,
      keeps,
      longest,
      ...(span !== undefined && { span }),
    });
  } catch (error) {
    if (!(error instanceof UnreadableTrace)) throw error;
    if (others > 0 && error.message.startsWith('this holds no line')) {
      throw new UsageError(
        `${name}: none of its lines (${others}) is about ${node}: give the name that kubectl get nodes prints, or a longer --since`,
        { cause: error },
      );
    }
    const advice = error.message.startsWith('its lines have more') ? `: ${SHORTER}` : '';
    throw new UsageError(`${name}: ${error.message}${advice}`, { cause: error });
  }
  const { header, lines, leftOut, firstLeftOut } = read;
  const notices =
    leftOut === 0
      ? []
      : [
          `${leftOut} line${leftOut === 1 ? '' : 's'} of ${name} left out, the first is line ${firstLeftOut?.number ?? 0}: ${firstLeftOut?.why ?? ''}`,
        ];
  if (header !== undefined) return { lines, notices };
  const sorted = lines.toSorted((a, b) => Date.parse(a.t) - Date.parse(b.t));
  const [start, end] = [sorted.at(0)?.t ?? '', sorted.at(-1)?.t ?? ''];
  return {
    lines: [{ t: start, kind: 'trace', version: TRACE_VERSION, source: 'audit', name, start, end }, ...sorted],
    notices,
  };
}

/** The node's own lines, and those that frame the trace. Of claims and pods those that name it. */
export const isAbout = (line: TraceLine, node: string): boolean =>
  line.kind === 'trace' ||
  line.kind === 'end' ||
  line.kind === 'policy' ||
  line.kind === 'rules' ||
  JSON.stringify(line).includes(`"${node}"`);

/** The lines of a text that comes in parts; of one that is longer than `longest`, its beginning. */
export async function* linesOf(parts: AsyncIterable<string>, longest: number): AsyncGenerator<string> {
  let begun = '';
  for await (const part of parts) {
    const lines = part.split('\n');
    for (const [index, line] of lines.entries()) {
      if (begun.length < longest) begun += line.slice(0, longest - begun.length);
      if (index === lines.length - 1) break;
      yield begun;
      begun = '';
    }
  }
  if (begun !== '') yield begun;
}
