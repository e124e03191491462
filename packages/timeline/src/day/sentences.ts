/** How a node's day went, in a few words beside its bars: what stood before the last bar, and how it ended. */
import { notServedText, shortClock, spanText, unitOf } from './text.ts';
import type { Bar, Day, Lane, Wait } from './types.ts';

export type Tone = 'plain' | 'red' | 'amber' | 'green' | 'violet' | 'blue';

export interface Sentence {
  /** Left of the first bar of the last story. */
  readonly before: string;
  /** Right of its last bar; the part that matters most. */
  readonly strong: string;
  readonly rest: string;
  readonly tone: Tone;
  /** From the first bar of that story to its last. */
  readonly from: number;
  readonly to: number;
}

/** What holds a repair while another one is under way. */
const WAITS_FOR_OTHERS: ReadonlySet<string> = new Set([
  'ClusterConcurrencyBudget',
  'ZoneConcurrencyBudget',
  'ConcurrencyBudget',
]);

/** undefined: the bars say it all. */
export function sentenceOf(lane: Lane, day: Pick<Day, 'lanes' | 'lines'>): Sentence | undefined {
  const words = wordsOf(lane, day);
  return words && { ...words, ...storyOf(lane) };
}

/** The bars that lead to the last one without a gap; of a node that flaps, all. */
function storyOf({ bars, end, drains }: Lane): { readonly from: number; readonly to: number } {
  const told = bars.filter(({ kind }) => kind !== 'protection').toSorted((a, b) => b.to - a.to || b.from - a.from);
  const to = end?.time ?? told[0]?.to ?? 0;
  const flaps = end === undefined && drains.some(({ outcome }) => outcome === 'cancelled');
  let from = to;
  for (const bar of told) if (flaps || bar.to >= from - 1000) from = Math.min(from, bar.from);
  return { from, to };
}

function wordsOf(lane: Lane, day: Pick<Day, 'lanes' | 'lines'>): Omit<Sentence, 'from' | 'to'> | undefined {
  const { end, drains } = lane;
  const before = beforeOf(lane);
  if (end !== undefined) return { before, ...endOf(lane, day), tone: end.by === 'others' ? 'plain' : 'red' };
  const cancelled = drains.filter(({ outcome }) => outcome === 'cancelled');
  if (cancelled.length > 0) {
    const budget = lane.waits.some(({ by, isBudget }) => by === 'drain' && isBudget);
    const rest = ` as the node recovered${budget ? '; a PodDisruptionBudget forbade the evictions' : ''}`;
    const strong = `${unitOf(cancelled.length, 'drain')} called off`;
    return { before: flapsOf(lane) ?? before, strong, rest, tone: 'plain' };
  }
  const open = drains.find(({ isOpen }) => isOpen);
  if (open !== undefined) {
    const reasons = [...new Set(lane.waits.filter(({ by }) => by === 'drain').map(shortReason))];
    return { before: reasons.join(', then '), strong: 'without end', rest: '', tone: 'red' };
  }
  if (drains.some(({ outcome }) => outcome === 'succeeded'))
    return { before, strong: 'Drained', rest: '', tone: 'blue' };
  return undefined;
}

function endOf(lane: Lane, day: Pick<Day, 'lanes' | 'lines'>): { readonly strong: string; readonly rest: string } {
  const { end, bars, takenPods, skippedHooks, unawaitedHooks, hooks, waits } = lane;
  if (end?.by === 'others') return { strong: 'Gone', rest: '' };
  const reboot = bars.find(({ kind }) => kind === 'reboot');
  const failedHook = hooks.find(({ result }) => result === 'timed out' || result === 'failed');
  const forced = forcedOf(lane, day);
  const strong =
    failedHook !== undefined
      ? `Hook ${failedHook.result}`
      : skippedHooks.length > 0
        ? 'Terminated, hook skipped'
        : unawaitedHooks.length > 0 && end?.by === 'repair'
          ? 'Terminated, hook not waited for'
          : forced !== undefined && end?.by === 'request'
            ? forced.strong
            : 'Terminated';
  const rest = [
    reboot && `: the reboot (${shortClock(reboot.from)} to ${shortClock(reboot.to)}) did not help`,
    takenPods.length > 0 &&
      ` and took protected pod${takenPods.length === 1 ? '' : 's'} ${takenPods.map(shortName).join(', ')}`,
    heldBy(lane, day),
    failedHook !== undefined && forced !== undefined && `, ${forced.strong}`,
    forced !== undefined && end?.by === 'request' && forced.rest,
    budgetText(waits, forced),
  ];
  return { strong, rest: rest.filter(part => typeof part === 'string').join('') };
}

const shortName = (pod: string): string => pod.slice(pod.indexOf('/') + 1);

function forcedOf(
  { decisions }: Lane,
  { lines }: Pick<Day, 'lines'>,
): { readonly strong: string; readonly rest: string } | undefined {
  const forced = decisions
    .map(index => lines[index])
    .filter(line => line?.kind === 'audit' && line.decision === 'forceDelete');
  const [first] = forced;
  if (first?.kind !== 'audit') return undefined;
  const deadline = /deadline (\S+)/.exec(first.message)?.[1];
  const at = Date.parse(first.t);
  const distance = deadline === undefined ? undefined : Date.parse(deadline) - at;
  const names =
    forced.length > 2
      ? unitOf(forced.length, 'pod')
      : forced.map(line => (line?.kind === 'audit' ? line.name : '')).join(', ');
  const rest =
    distance === undefined || distance <= 0
      ? ` at ${shortClock(at)}`
      : ` ${spanText(distance)} before the deadline ${shortClock(at + distance)}`;
  return { strong: `${names} deleted by force`, rest };
}

/** How many healthy pods the budget wanted. */
function budgetText(waits: readonly Wait[], forced: unknown): string {
  const numbers = waits
    .filter(({ isBudget }) => isBudget)
    .map(({ detail }) => /budget (\S+) needs (\d+) healthy pods and has (\d+)/.exec(detail))
    .findLast(Boolean);
  return forced === undefined || !numbers
    ? ''
    : `; PDB ${numbers[1] ?? ''} had ${numbers[3] ?? ''} of ${numbers[2] ?? ''}`;
}

/** `; had waited for gpu-1`. */
function heldBy({ name, bars }: Lane, { lanes }: Pick<Day, 'lanes'>): string | false {
  const hold = bars.findLast(bar => bar.guard !== undefined && WAITS_FOR_OTHERS.has(bar.guard));
  const other = hold && waitedFor(hold, name, lanes);
  return other !== undefined && `; had waited for ${other}`;
}

/** Whose repair was under way while this one was held by a limit. */
export const waitedFor = (hold: Bar, name: string, lanes: readonly Lane[]): string | undefined =>
  hold.guard !== undefined && WAITS_FOR_OTHERS.has(hold.guard)
    ? lanes.find(
        lane => lane.name !== name && lane.repairs.some(({ from, to }) => from <= hold.from && to >= hold.to - 1000),
      )?.name
    : undefined;

function beforeOf({ bars, waits, end }: Lane): string {
  const ill = bars.findLast(({ kind }) => kind === 'unhealthy');
  const blocked = waits.find(({ by, isBudget }) => by === 'drain' && isBudget);
  const text = ill === undefined || end === undefined ? '' : ill.label;
  return blocked === undefined || end === undefined
    ? text
    : `${text}; drain blocked for ${spanText(blocked.to - blocked.from)} by a PDB`;
}

function flapsOf({ bars }: Lane): string | undefined {
  const ill = bars.filter(({ kind }) => kind === 'unhealthy');
  return ill.length < 3 ? undefined : `${ill[0]?.label ?? ''}, flapping ${ill.length}×`;
}

function shortReason({ reason, detail }: Wait): string {
  if (reason === 'CustomDrainNotServed') return notServedText({ detail });
  if (reason === 'AwaitingPodCompletion') return `waits for ${/\[([^\]]*)\]/.exec(detail)?.[1] ?? 'its pods'}`;
  return reason === 'FailedDraining' ? 'pods are left that must not go' : reason;
}
