/** What repair made of a node: how long it tolerated, what held it, what it did. From its decisions alone. */
import type { LineOf } from '../trace/lines.ts';
import { textAt, textsAt, timeAt } from './objects.ts';
import { Stretches } from './spans.ts';
import type { Bar, BarKind, Span } from './types.ts';

export interface Decided {
  readonly index: number;
  readonly time: number;
  readonly line: LineOf<'audit'>;
}

export interface RepairOfNode {
  readonly bars: readonly Bar[];
  readonly repairs: readonly Span[];
  readonly takenPods: readonly string[];
  /** It began to end the node. */
  readonly terminated: number | undefined;
}

interface Stretch {
  readonly kind: BarKind;
  readonly label: string;
  readonly detail: string;
  readonly guard?: string | undefined;
  readonly line: number;
  /** When it is over, whatever is said. */
  readonly due?: number | undefined;
}

/** Decisions that hold back what is due. */
const HOLDS: ReadonlySet<string> = new Set(['blocked', 'vetoed', 'refused', 'refuse', 'retry', 'exhausted', 'settle']);
/** An action draws itself, and a warning or the end of a replacement holds nothing. */
const NOT_DRAWN: ReadonlySet<string> = new Set(['finishing', 'underWay', 'warn', 'release']);
/** After these, nothing is under way. */
const ENDS: ReadonlySet<string> = new Set(['ignore', 'recovered', 'close']);
const ACTION_KINDS: Readonly<Record<string, BarKind>> = {
  Reboot: 'reboot',
  Terminate: 'termination',
  Replace: 'termination',
};

/** @param lines the decisions of repair about one node, in order */
export function repairOf(lines: readonly Decided[], end: number): RepairOfNode {
  const stretches = new Stretches<Stretch>();
  const repairs = new Stretches<{ readonly line: number }>();
  const takenPods = new Set<string>();
  let terminated: number | undefined;
  for (const { index, time, line } of lines) {
    const { decision, details } = line;
    if (stretches.open?.due !== undefined && stretches.open.due < time) stretches.end(stretches.open.due);
    for (const pod of textsAt(details, 'protectedPods')) takenPods.add(pod);
    if (NOT_DRAWN.has(decision) || line.reason === 'ProtectedPodsTaken') continue;
    if (ENDS.has(decision)) {
      stretches.end(time);
      repairs.end(time);
      continue;
    }
    if (decision === 'repair') {
      const action = textAt(details, 'action') ?? '';
      if (ACTION_KINDS[action] === 'termination') terminated ??= time;
      if (repairs.open === undefined) repairs.begin(time, { line: index });
    }
    const next = stretchOf(line, index);
    // What is said again in the same words goes on.
    if (next.detail === stretches.open?.detail && next.kind === stretches.open.kind) continue;
    stretches.begin(time, next);
  }
  const { open } = stretches;
  if (open?.due !== undefined && open.due < end) stretches.end(open.due);
  stretches.end(end, true);
  repairs.end(end, true);
  // The drain of a ladder is drawn by what the drain says.
  const bars = stretches.closed.filter(({ kind, label }) => kind !== 'action' || label !== 'Drain');
  return { bars, repairs: repairs.closed, takenPods: [...takenPods], terminated };
}

function stretchOf({ decision, reason, message, details }: LineOf<'audit'>, line: number): Stretch {
  if (decision === 'tolerate')
    return { kind: 'tolerated', label: conditionOf(details), detail: message, line, due: timeAt(details, 'dueTime') };
  if (decision === 'repair') {
    const action = textAt(details, 'action') ?? 'repair';
    return { kind: ACTION_KINDS[action] ?? 'action', label: action, detail: message, line };
  }
  if (decision === 'wouldRepair') return { kind: 'held', label: 'observed', detail: message, guard: 'Observe', line };
  return HOLDS.has(decision)
    ? { kind: 'held', label: reason, detail: message, guard: reason, line }
    : { kind: 'held', label: decision, detail: message, guard: reason, line };
}

/** `Ready=Unknown`. */
export function conditionOf(details: unknown): string {
  const type = textAt(details, 'conditionType');
  return type === undefined ? '' : `${type}=${textAt(details, 'conditionStatus') ?? ''}`;
}
