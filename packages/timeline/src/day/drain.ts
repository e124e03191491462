/** The drains of a node, and what they waited for. */
import { Stretches } from './spans.ts';
import { textAt } from './objects.ts';
import type { Decided } from './repair.ts';
import type { Bar, DrainRun, Span, Wait } from './types.ts';

const OUTCOMES: Readonly<Record<string, DrainRun['outcome']>> = {
  DrainSucceeded: 'succeeded',
  DrainFailed: 'failed',
  DrainCancelled: 'cancelled',
};
/** What is said of single pods, or asked, ends no wait. */
const BESIDE: ReadonlySet<string> = new Set(['take', 'evict', 'delete', 'warn', 'answer', 'createResource']);
export const isBudget = (message: string): boolean => /disruption budget/i.test(message);

/** @param lines the decisions of the drain about one node, in order */
export function drainsOf(
  lines: readonly Decided[],
  end: number,
): { readonly bars: readonly Bar[]; readonly drains: readonly DrainRun[]; readonly waits: readonly Wait[] } {
  const runs = new Stretches<Omit<DrainRun, keyof Span>>();
  const waits = new Stretches<Omit<Wait, keyof Span>>();
  for (const { index, time, line } of lines) {
    const { decision, reason, message } = line;
    if (BESIDE.has(decision)) continue;
    if (decision === 'begin') runs.begin(time, { outcome: 'running', isRepair: isAskedByRepair(message), line: index });
    if (decision === 'wait' || decision === 'hold') {
      if (waits.open?.detail === message) continue;
      waits.begin(time, { by: 'drain', reason, detail: message, isBudget: isBudget(message), line: index });
      continue;
    }
    waits.end(time);
    if (decision === 'end' || decision === 'close') {
      runs.extend({ outcome: OUTCOMES[textAt(line, 'reason') ?? ''] ?? 'cancelled' });
      runs.end(time);
    }
  }
  waits.end(end, true);
  runs.end(end, true);
  const drains = runs.closed;
  const bars = drains.map(({ from, to, isOpen, line }) => {
    const begun = lines.find(({ index }) => index === line);
    return { kind: 'drain' as const, label: 'Drain', detail: begun?.line.message ?? '', from, to, isOpen, line };
  });
  return { bars, drains, waits: waits.closed };
}

const isAskedByRepair = (message: string): boolean => message.includes('curfew.repair');
