/** A run as text: what happened, in order, and what was expected. */
import pc from 'picocolors';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import { durationBetween, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import type { Verdict } from './expect.ts';
import type { RunResult } from './run.ts';
import type { ScenarioFault } from './scenario/scenario.ts';

const BY_WIDTH = 10;

export function formatRun(result: RunResult): string {
  const { scenario, timeline, verdicts } = result;
  const { name, start, end, file } = scenario;
  const span = `${toIsoText(start)}, ${formatDuration(durationBetween(start, end))}`;
  const lines = [`${pc.bold(name)}  ${pc.dim(`${file}, ${span}`)}`];
  for (const { time, by, text } of timeline) {
    lines.push(`  ${formatOffset(start, time)}  ${pc.cyan(by.padEnd(BY_WIDTH))}  ${text}`);
  }
  if (verdicts.length > 0) lines.push('', ...verdicts.flatMap(formatVerdict), '');
  lines.push(formatSummary(result));
  return lines.join('\n');
}

/** One line for one run. */
export function formatSummary({ scenario, verdicts, trace, buried }: RunResult): string {
  const held = verdicts.filter(({ holds }) => holds).length;
  const word = isGood({ verdicts }) ? pc.green('ok') : pc.red('FAILED');
  const writes = trace.filter(({ kind }) => kind === 'write').length;
  const parts = [`${held} of ${verdicts.length} expectations hold`, `${writes} writes`];
  if (buried.length > 0) parts.push(`${buried.length} messages in dead-letter queues`);
  return `${word} ${scenario.name}: ${parts.join(', ')}`;
}

/** Each expectation that does not hold, with what was seen. */
export function formatFailures({ scenario, verdicts }: RunResult): string[] {
  return verdicts
    .filter(({ holds }) => !holds)
    .flatMap(({ expectation, title, seen }) => [
      `${scenario.file}:${expectation.place.line}: ${expectation.place.path}: expected ${title}`,
      ...seen.map(line => `    ${line}`),
    ]);
}

export function formatFault({ place, message }: ScenarioFault): string {
  return `${place.file}:${place.line}: ${place.path === '' ? '' : `${place.path}: `}${message}`;
}

export function isGood({ verdicts }: Pick<RunResult, 'verdicts'>): boolean {
  return verdicts.every(({ holds }) => holds);
}

function formatVerdict({ holds, title, seen }: Verdict): string[] {
  const mark = holds ? pc.green('✓') : pc.red('✗');
  return [`  ${mark} ${title}`, ...seen.map(line => `      ${line}`)];
}

/** The time of day; with the day once the run is past the first. */
function formatOffset(start: EpochMs, time: EpochMs): string {
  const text = toIsoText(time);
  const [day = '', clock = ''] = text.split('T');
  const isFirstDay = toIsoText(start).startsWith(day);
  const short = clock.replace('.000Z', '    ').replace('Z', '');
  return isFirstDay ? short : `${day} ${short}`;
}
