/** What a swarm tells people. */
import { colors as pc } from '../terminal-colors.ts';
import { formatFailure, type SeedReport } from './seed.ts';
import type { Totals } from './totals.ts';

const SHOWN_FAILURES = 20;
const LINE_WIDTH = 200;

/** @param seconds of real time that it took */
export function formatTotals(totals: Totals, seconds: number): string {
  const { seeds, simulatedHours, nodeHours, faults, decisions, failing } = totals;
  const rate = seconds > 0 ? nodeHours / seconds : 0;
  const injected = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return [
    `${whole(seeds)} seeds, ${whole(simulatedHours)} simulated hours, ${whole(nodeHours)} node-hours in ${seconds.toFixed(1)} s: ${whole(rate)} node-hours a second`,
    `faults injected: ${whole(injected)}`,
    ...formatCounts(faults),
    'decisions:',
    ...formatCounts(decisions),
    ...formatFailures(failing),
  ].join('\n');
}

function formatFailures(failing: readonly SeedReport[]): readonly string[] {
  if (failing.length === 0) return [pc.green('every invariant held in every run, and every run converged')];
  const lines = failing.slice(0, SHOWN_FAILURES).map(formatFailing);
  const more = failing.length - lines.length;
  return [
    pc.red(`${failing.length} seeds failed`),
    ...lines,
    ...(more > 0
      ? [
          `  … and ${more} more: ${failing
            .slice(SHOWN_FAILURES)
            .map(({ seed }) => seed)
            .join(' ')}`,
        ]
      : []),
  ];
}

export function formatFailing({ seed, mix, failure }: SeedReport): string {
  const [line = ''] = failure === undefined ? [] : formatFailure(failure).split('\n');
  return `  seed ${seed} (faults: ${mix}) ${line.length <= LINE_WIDTH ? line : `${line.slice(0, LINE_WIDTH)}…`}`;
}

/** `name 12`, several to a line. */
function formatCounts(counts: Readonly<Record<string, number>>): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const [name, count] of Object.entries(counts)) {
    const entry = `${name} ${whole(count)}`;
    if (line !== '' && line.length + entry.length > 100) {
      lines.push(`  ${line}`);
      line = '';
    }
    line += line === '' ? entry : `, ${entry}`;
  }
  return line === '' ? ['  none'] : [...lines, `  ${line}`];
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
