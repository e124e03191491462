/** `curfew audit`: a day out of audit logs as text or page, and what other policies would have made of it. */
import { readDay } from '../packages/timeline/src/day/day.ts';
import { sparklines } from '../packages/timeline/src/day/sparkline.ts';
import type { LineOf, TraceLine } from '../packages/timeline/src/trace/lines.ts';
import { verdictText } from '../packages/timeline/src/day/verdict.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { nanosecondsToDuration, parseGoDuration } from '../shared/domain/go-duration.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { toEpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { LogsOfStack } from './audit/cloudwatch.ts';
import { historyOf, historyOfFile, isAbout, type History } from './audit/history.ts';
import { readAuditLine } from './audit/log-line.ts';
import { replayOf } from './audit/replay.ts';
import type { CommandOutput } from './command-output.ts';
import { printComparison } from './compare.ts';
import { reportingFailure } from './failure.ts';
import { readLogGroups } from './operate/deployment.ts';
import { readValidObjects } from './read-objects.ts';
import { UsageError } from './usage-error.ts';
import { checkWritable } from './writable.ts';

export interface AuditOptions {
  /** JSON lines as CloudWatch exports them, or a trace; without it the logs of the deployment are read. */
  readonly fromAudit?: string;
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
  /** A Go duration back from now, or from the last line of a file. */
  readonly since?: string;
  readonly node?: string;
  /** Goes on printing what comes. */
  readonly follow?: boolean;
  /** Files or folders of manifests: what they would have made of that history. */
  readonly policies?: readonly string[];
  readonly output?: string;
  readonly html?: string;
}

export interface AuditParts {
  readonly clock?: Clock;
  /** Ends the following. */
  readonly interrupted?: AbortSignal;
}

const SPARKLINE_WIDTH = 48;
/** The default for a deployment, whose log may be years long. */
const DEFAULT_SINCE = '24h';

/** Exit code 0: read. 2: the file or the deployment cannot be used. */
export function auditCommand(options: AuditOptions, output: CommandOutput, parts: AuditParts = {}): Promise<number> {
  const { clock = systemClock, interrupted = new AbortController().signal } = parts;
  return reportingFailure(output, async () => {
    const { fromAudit: file, follow = false, policies = [], html, stack, node, ...client } = options;
    if (html !== undefined && !follow) checkWritable(html, '--html');
    if (follow) {
      if (file !== undefined || policies.length > 0 || html !== undefined)
        throw new UsageError('--follow prints lines as they come: leave --from-audit, --policies and --html out');
      const since = toEpochMs(clock.now() - spanOf(options.since ?? '0s'));
      const { followAuditLines } = await import('./audit/cloudwatch.ts');
      for await (const text of followAuditLines(await logsOf(stack, client), since, clock, interrupted)) {
        const line = readAuditLine(text);
        if (line === undefined || (node !== undefined && !isAbout(line, node))) continue;
        output.out(`${options.output === 'text' ? onOneLine(sentenceOf(line)) : JSON.stringify(line)}\n`);
      }
      return 0;
    }
    const history = file === undefined ? await historyOfStack(options, clock) : await fileOf(file, options);
    await print(history, options, output);
    return 0;
  });
}

async function print({ lines, notices }: History, options: AuditOptions, output: CommandOutput): Promise<void> {
  const { fromAudit, stack, node, policies = [], html } = options;
  for (const notice of notices) output.error(`${notice}\n`);
  const day = readDay(lines);
  if (policies.length > 0) {
    const replayed = await replayOf(day, await readValidObjects(policies), fromAudit ?? stack);
    for (const notice of replayed.notices) output.error(`${notice}\n`);
    const names = ['as it was', policies.join(', ')] as const;
    const all = { ...options, notices: [...notices, ...replayed.notices] };
    return printComparison([lines, replayed.lines], names, all, output);
  }
  // First, since a reader of the text that has seen enough ends the process.
  if (html !== undefined) {
    const { writePage } = await import('./page/write.ts');
    await writePage(html, day.header.name, { lines, notices });
  }
  if (options.output === 'jsonl') output.out(lines.map(line => `${JSON.stringify(line)}\n`).join(''));
  else {
    const text = [
      verdictText(day.verdict),
      ...day.badges.map(({ title, detail }) => `! ${title}: ${detail}`),
      ...sparklines(day, SPARKLINE_WIDTH),
      ...(node === undefined ? [] : ['', ...lines.filter(isDecision).map(sentenceOf)]),
    ];
    output.out(`${text.map(onOneLine).join('\n')}\n`);
  }
  if (html !== undefined) output.error(`the page is ${html}\n`);
}

const fileOf = (file: string, { since, node }: AuditOptions): Promise<History> =>
  historyOfFile(file, { node, span: since === undefined ? undefined : spanOf(since) });

async function historyOfStack(
  { stack, region, since = DEFAULT_SINCE, node }: AuditOptions,
  clock: Clock,
): Promise<History> {
  const from = clock.now() - spanOf(since);
  const { auditLinesSince } = await import('./audit/cloudwatch.ts');
  const logs = await logsOf(stack, region === undefined ? {} : { region });
  return historyOf(auditLinesSince(logs, from), `the log of ${stack}`, { node });
}

async function logsOf(stack: string, { region }: { readonly region?: string }): Promise<LogsOfStack> {
  const { CloudWatchLogsClient } = await import('@aws-sdk/client-cloudwatch-logs');
  const options = region === undefined ? {} : { region };
  return { client: new CloudWatchLogsClient(options), functions: await readLogGroups(stack, options) };
}

/** Milliseconds. Throws `UsageError`. */
function spanOf(since: string): number {
  const parsed = parseGoDuration(since);
  if (!parsed.ok) throw new UsageError(`--since takes a Go duration, as 24h: ${parsed.error}`);
  return nanosecondsToDuration(parsed.nanoseconds);
}

const isDecision = (line: TraceLine): line is LineOf<'audit'> => line.kind === 'audit';

/** One decision in a line. */
function sentenceOf({ t, function: by, decision, reason, message, about }: LineOf<'audit'>): string {
  const object = [about.kind, about.namespace, about.name].filter(part => part !== undefined).join('/');
  return `${t}  ${by.padEnd(12)}  ${decision.padEnd(10)}  ${object}: ${message} (${reason})`;
}
