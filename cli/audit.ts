/** `curfew audit`: a day out of audit logs as text or page, and what other policies would have made of it. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { readDay } from '../packages/timeline/src/day/day.ts';
import { sparklines } from '../packages/timeline/src/day/sparkline.ts';
import type { Day } from '../packages/timeline/src/day/types.ts';
import { verdictText } from '../packages/timeline/src/day/verdict.ts';
import { TRACE_VERSION, type TraceLine } from '../packages/timeline/src/trace/lines.ts';
import { readTrace, UnreadableTrace, type ReadTrace } from '../packages/timeline/src/trace/read.ts';
import { nanosecondsToDuration, parseGoDuration } from '../shared/domain/go-duration.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { toAuditLine } from './audit/log-line.ts';
import { replayOf } from './audit/replay.ts';
import type { CommandOutput } from './command-output.ts';
import { printComparison } from './compare.ts';
import { reportingFailure } from './failure.ts';
import { sizeOf } from './read-bounded.ts';
import { readObjects } from './read-objects.ts';
import { UsageError } from './usage-error.ts';

export interface AuditOptions {
  /** JSON lines as CloudWatch exports them, or a trace. */
  readonly fromAudit?: string;
  /** A Go duration back from the last line. */
  readonly since?: string;
  readonly node?: string;
  /** Files or folders of manifests: what they would have made of that history. */
  readonly policies?: readonly string[];
  readonly output?: string;
  readonly html?: string;
}

/** A page holds its lines, and a browser reads them at once. */
const MAX_BYTES = 64_000_000;
const SPARKLINE_WIDTH = 48;

/** Exit code 0: read. 2: the file cannot be used. */
export function auditCommand(options: AuditOptions, output: CommandOutput): Promise<number> {
  return reportingFailure(output, async () => {
    const { fromAudit: file, html, policies = [] } = options;
    if (file === undefined)
      throw new UsageError(
        'give --from-audit FILE: audit lines as CloudWatch exports them, one JSON object a line, or a trace',
      );
    const { lines, notices } = await readHistory(file, options);
    for (const notice of notices) output.error(`${notice}\n`);
    if (policies.length > 0) {
      const replayed = await replayOf(readDay(lines), await readObjects(policies), file);
      await printComparison([lines, replayed], ['as it was', policies.join(', ')], options, output);
      return 0;
    }
    const day = readDay(lines);
    if (options.output === 'jsonl') output.out(lines.map(line => `${JSON.stringify(line)}\n`).join(''));
    else output.out(`${textOf(day).map(onOneLine).join('\n')}\n`);
    if (html !== undefined) {
      const { writePage } = await import('./page/write.ts');
      await writePage(html, day.header.name, { lines, notices });
      output.error(`the page is ${html}\n`);
    }
    return 0;
  });
}

const textOf = (day: Day): readonly string[] => [
  verdictText(day.verdict),
  ...day.badges.map(({ title, detail }) => `! ${title}: ${detail}`),
  ...sparklines(day, SPARKLINE_WIDTH),
];

/** Throws `UsageError`. */
async function readHistory(
  file: string,
  { since, node }: AuditOptions,
): Promise<{ readonly lines: readonly TraceLine[]; readonly notices: readonly string[] }> {
  const bytes = await sizeOf(file);
  if (bytes > MAX_BYTES && since === undefined && node === undefined) {
    throw new UsageError(
      `${file} has ${(bytes / 1e6).toFixed(0)} MB, and a page takes ${MAX_BYTES / 1e6} MB: cut it down with --node NAME, or export a shorter time`,
    );
  }
  let read: ReadTrace;
  try {
    const keeps = (line: TraceLine): boolean => node === undefined || isAbout(line, node);
    read = await readTrace(createInterface({ input: createReadStream(file), crlfDelay: Infinity }), {
      translate: toAuditLine,
      keeps,
    });
  } catch (error) {
    if (error instanceof UnreadableTrace) throw new UsageError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
  const sorted =
    read.header === undefined ? read.lines.toSorted((a, b) => Date.parse(a.t) - Date.parse(b.t)) : read.lines;
  const lines = sinceOf(sorted, since);
  const { leftOut, firstLeftOut } = read;
  const notices =
    leftOut === 0
      ? []
      : [
          `${leftOut} line${leftOut === 1 ? '' : 's'} of ${basename(file)} left out, the first is line ${firstLeftOut?.number ?? 0}: ${firstLeftOut?.why ?? ''}`,
        ];
  return { lines: read.header === undefined ? withHeader(lines, basename(file)) : lines, notices };
}

/** The node's own lines, and those that frame the trace. Of claims and pods those of its name, as `web-1-nc`. */
const isAbout = (line: TraceLine, node: string): boolean =>
  line.kind === 'trace' ||
  line.kind === 'end' ||
  line.kind === 'policy' ||
  line.kind === 'rules' ||
  JSON.stringify(line).includes(`"${node}"`);

function sinceOf(lines: readonly TraceLine[], since: string | undefined): readonly TraceLine[] {
  if (since === undefined) return lines;
  const parsed = parseGoDuration(since);
  if (!parsed.ok) throw new UsageError(`--since takes a Go duration, as 24h: ${parsed.error}`);
  const from = Date.parse(lines.at(-1)?.t ?? '') - nanosecondsToDuration(parsed.nanoseconds);
  return lines.filter(line => line.kind === 'trace' || Date.parse(line.t) >= from);
}

function withHeader(lines: readonly TraceLine[], name: string): readonly TraceLine[] {
  const [start, end] = [lines.at(0)?.t ?? '', lines.at(-1)?.t ?? ''];
  return [{ t: start, kind: 'trace', version: TRACE_VERSION, source: 'audit', name, start, end }, ...lines];
}
