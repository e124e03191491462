/** A lane a node, in letters: what a terminal can show of a day. */
import { guardName } from './text.ts';
import type { Bar, BarKind, Day, Lane } from './types.ts';

/** From the one that says least to the one that says most: where several fall into one letter, the last counts. */
const LETTERS: readonly (readonly [BarKind, string, string])[] = [
  ['protection', 'p', 'protected'],
  ['replacement', 'n', 'new'],
  ['unhealthy', 'u', 'unhealthy'],
  ['tolerated', 't', 'tolerated'],
  ['held', 'H', 'held'],
  ['drain', 'D', 'drain'],
  ['action', 'A', 'action'],
  ['reboot', 'R', 'reboot'],
  ['termination', 'T', 'termination'],
];
const QUIET = '·';
const GONE = ' ';
const END = '×';
const SHOWN = 40;

/** One letter for each part of the day; `×` where the node ends. */
export function sparkline(
  { bars, from, end }: Lane,
  { start, end: to }: Pick<Day, 'start' | 'end'>,
  width: number,
): string {
  const step = (to - start) / width;
  const letters = Array.from({ length: width }, (_, index) => {
    const [left, right] = [start + index * step, start + (index + 1) * step];
    if (end !== undefined && end.time >= left && end.time < right) return END;
    if (right <= from || (end !== undefined && left >= end.time)) return GONE;
    return letterOf(
      bars.filter(bar => bar.from < right && (bar.to > left || (bar.from === bar.to && bar.from >= left))),
    );
  });
  return letters.join('');
}

function letterOf(bars: readonly Bar[]): string {
  return LETTERS.findLast(([kind]) => bars.some(bar => bar.kind === kind))?.[1] ?? QUIET;
}

/** Lanes of nodes to which something happened, and a line for the others. */
export function sparklines(day: Day, width: number): readonly string[] {
  const isBusy = ({ bars, end }: Lane): boolean => end !== undefined || bars.some(({ kind }) => kind !== 'protection');
  const busy = day.lanes.filter(isBusy);
  const quiet = day.lanes.filter(lane => !isBusy(lane));
  if (busy.length === 0) return [];
  const shown = busy.slice(0, SHOWN);
  const widest = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(lane =>
    `${lane.name.padEnd(widest)}  ${sparkline(lane, day, width)}  ${endText(lane)}`.trimEnd(),
  );
  const used = LETTERS.filter(([kind]) => shown.some(({ bars }) => bars.some(bar => bar.kind === kind)));
  const legend = used.map(([, letter, title]) => `${letter} ${title}`).join(', ');
  const more = [
    ...(busy.length > SHOWN ? [`${busy.length - SHOWN} more nodes: --only node=NAME shows one`] : []),
    ...(quiet.length > 0
      ? [`quiet: ${quiet.length > 6 ? `${quiet.length} nodes` : quiet.map(({ name }) => name).join(', ')}`]
      : []),
  ];
  return [...lines, `${legend}, ${END} end${more.length > 0 ? `; ${more.join('; ')}` : ''}`];
}

/** How it ended, in a few words. */
export function endText({ end, drains, bars, reboots }: Lane): string {
  if (end !== undefined) {
    const first = reboots.length > 0 ? 'rebooted, then ' : '';
    return `${first}${end.by === 'repair' ? 'terminated by repair' : end.by === 'request' ? 'terminated on request' : 'gone'}`;
  }
  const cancelled = drains.filter(({ outcome }) => outcome === 'cancelled').length;
  if (cancelled > 0) return cancelled === 1 ? 'drain called off' : `drain called off ${cancelled}×`;
  if (drains.some(({ isOpen }) => isOpen)) return 'drain goes on';
  if (drains.at(-1)?.outcome === 'failed') return 'drain failed';
  const guards = [...new Set(bars.flatMap(({ guard }) => (guard === undefined ? [] : [guard])))];
  return guards.length === 0 ? '' : `held by ${guards.map(guardName).join(', ')}`;
}
