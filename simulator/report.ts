/** A run as text: what happened, in order, and what was expected. */
import { colors as pc } from './terminal-colors.ts';
import { formatDuration } from '../shared/domain/go-duration.ts';
import { onOneLine } from '../shared/domain/printable.ts';
import { durationBetween, toIsoText, type EpochMs } from '../shared/domain/time.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import { formatOutcome, objectOf, outcomeOf } from './outcome.ts';
import { sparklines } from '../packages/timeline/src/day/sparkline.ts';
import { verdictText } from '../packages/timeline/src/day/verdict.ts';
import type { Day } from '../packages/timeline/src/day/types.ts';
import type { Verdict } from './expect.ts';
import type { RunResult } from './run.ts';
import { formatFinding, toFinding } from './scenario/finding.ts';
import { timelineOf } from './timeline.ts';

const BY_WIDTH = 10;
/** Of a day, a letter is half an hour. */
const SPARKLINE_WIDTH = 48;

export interface TextOptions {
  /** The run as a day, which leads the text. */
  readonly day: Day;
  /** Whether a line of the trace is shown, by its index. */
  readonly shows: (index: number) => boolean;
  /** Names of the nodes whose lanes are shown; empty: all. */
  readonly only: ReadonlySet<string>;
}

export function formatRun(result: RunResult, { day, shows, only }: TextOptions): string {
  const { scenario, trace, verdicts } = result;
  const { name, start, end, file } = scenario;
  const span = `${toIsoText(start)}, ${formatDuration(durationBetween(start, end))}`;
  const lines = [
    `${pc.bold(name)}  ${pc.dim(`${file}, ${span}`)}`,
    `  ${pc.bold(onOneLine(verdictText(day.verdict)))}`,
    ...day.badges.map(({ severity, title, detail }) => {
      const text = `! ${title}: ${onOneLine(detail)}`;
      return `  ${severity === 'red' ? pc.red(text) : pc.yellow(text)}`;
    }),
    ...sparklines(
      only.size === 0 ? day : { ...day, lanes: day.lanes.filter(({ name }) => only.has(name)) },
      SPARKLINE_WIDTH,
    ).map(line => `  ${line}`),
    '',
  ];
  for (const { time, by, text } of timelineOf(trace.filter((_, index) => shows(index)))) {
    lines.push(`  ${formatOffset(start, time)}  ${pc.cyan(by.padEnd(BY_WIDTH))}  ${onOneLine(text)}`);
  }
  if (verdicts.length > 0) lines.push('', ...verdicts.flatMap(formatVerdict));
  if (result.violations.length > 0) lines.push('', ...formatViolations(result));
  if (result.refusals.length > 0) lines.push('', ...formatRefusals(result));
  if (result.notes.length > 0) lines.push('', ...formatNotes(result));
  lines.push('');
  // Without expectations, what happened is the answer.
  if (verdicts.length === 0)
    lines.push('Summary', ...formatOutcome(outcomeOf(result.trace)).map(line => `  ${line}`), '');
  lines.push(formatSummary(result));
  return lines.join('\n');
}

/** One line for one run. */
export function formatSummary(result: RunResult): string {
  const { scenario, seed, verdicts, violations, refusals, trace, buried, faults } = result;
  const held = verdicts.filter(({ holds }) => holds).length;
  const word = isGood(result) ? pc.green('ok') : pc.red('FAILED');
  const writes = trace.filter(({ kind }) => kind === 'write').length;
  const expectations = verdicts.length === 0 ? 'no expectations' : `${held} of ${verdicts.length} expectations hold`;
  const parts = [expectations, count(writes, 'write')];
  if (buried.length > 0) parts.push(`${count(buried.length, 'message')} in dead-letter queues`);
  if (violations.length > 0) parts.push(`${count(violations.length, 'violation')} of invariants`);
  if (refusals.length > 0) parts.push(`${count(refusals.length, 'refusal')} that no expectation names`);
  const injected = [...faults.values()].reduce((sum, number) => sum + number, 0);
  if (injected > 0) parts.push(`${count(injected, 'fault')}, seed ${seed}`);
  return `${word} ${scenario.name}: ${parts.join(', ')}`;
}

/** A run as data: whether it is good, and what is not. */
export function toReport(result: RunResult): JsonObject {
  const { scenario, seed, verdicts, violations, refusals, notes } = result;
  return {
    name: scenario.name,
    file: scenario.file,
    seed,
    ok: isGood(result),
    expectations: verdicts.map(({ expectation, holds, title, seen }) => ({
      line: expectation.place.line,
      path: expectation.place.path,
      holds,
      title,
      seen: [...seen],
    })),
    violations: violations.map(({ invariant, time, message }) => ({ invariant, time: toIsoText(time), message })),
    refusals: refusals.map(({ time, line }) => ({
      time: toIsoText(time),
      object: objectOf(line['about']),
      reason: line['reason'] ?? null,
      message: refusalText(line),
    })),
    notes: notes.map(({ place, message }) => ({ line: place.line, path: place.path, message })),
  };
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Each expectation that does not hold, with what was seen, and each violated invariant, with the facts. */
export function formatFailures(result: RunResult): string[] {
  const { scenario, verdicts } = result;
  return [
    ...verdicts
      .filter(({ holds }) => !holds)
      .flatMap(({ expectation, title, seen }) => [
        `${scenario.file}:${expectation.place.line}: ${expectation.place.path}: expected ${title}`,
        ...seen.map(line => `    ${line}`),
      ]),
    ...formatViolations(result),
    ...formatRefusals(result),
  ];
}

function formatViolations({ scenario, seed, violations }: RunResult): string[] {
  return violations.map(
    ({ invariant, time, message }) =>
      `${scenario.file}: seed ${seed}: ${invariant} violated at ${toIsoText(time)}: ${message}`,
  );
}

/** What may not be meant as it is in the file. */
export const formatNotes = ({ notes }: RunResult): string[] =>
  notes.map(note => formatFinding(toFinding(note, 'note')));

function formatRefusals({ scenario, refusals }: RunResult): string[] {
  return refusals.map(({ line }) => {
    return `${scenario.file}: ${objectOf(line['about'])} was refused, and no expectation says so: ${onOneLine(refusalText(line))}`;
  });
}

const refusalText = ({ message }: JsonObject): string =>
  typeof message === 'string' ? message : 'no reason was given';

/** Every expectation holds, no invariant was violated, and what was refused was meant to be. */
export function isGood({
  verdicts,
  violations,
  refusals,
}: Pick<RunResult, 'verdicts' | 'violations' | 'refusals'>): boolean {
  return violations.length === 0 && refusals.length === 0 && verdicts.every(({ holds }) => holds);
}

function formatVerdict({ expectation, holds, title, seen }: Verdict): string[] {
  const { file, line, path } = expectation.place;
  const claim = holds ? `${pc.green('✓')} ${title}` : `${pc.red('✗')} ${file}:${line}: ${path}: expected ${title}`;
  return [`  ${claim}`, ...seen.map(line => `      ${line}`)];
}

/** The time of day; with the day once the run is past the first. */
function formatOffset(start: EpochMs, time: EpochMs): string {
  const text = toIsoText(time);
  const [day = '', clock = ''] = text.split('T');
  const isFirstDay = toIsoText(start).startsWith(day);
  const short = clock.replace('.000Z', '    ').replace('Z', '');
  return isFirstDay ? short : `${day} ${short}`;
}
