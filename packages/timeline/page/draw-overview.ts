/** Draws the whole day in small, and the axis. */
import { clockText, dayText, shortClock } from '../src/day/text.ts';
import type { Day, Lane } from '../src/day/types.ts';
import { text, ticksOf, widthOf, type Frame } from './frame.ts';
import { colourOf } from './theme.ts';

const DAY_MS = 86_400_000;

/** `15:00`; at midnight the day. */
const tickText = (time: number): string => (time % DAY_MS === 0 ? dayText(time) : shortClock(time));

export const OVERVIEW = { ticks: 22, lanes: 36, height: 64 } as const;

/** The lanes of the day, a pixel or so each, drawn once for each day and theme. */
export function drawOverviewLanes(frame: Frame, lanes: readonly Lane[]): void {
  const { context, width, height, colours, x } = frame;
  const pitch = Math.min(4, height / Math.max(1, lanes.length));
  const thick = Math.max(0.75, pitch - (pitch > 2 ? 1 : 0));
  const offset = Math.max(0, (height - pitch * lanes.length) / 2);
  for (const [index, { bars }] of lanes.entries()) {
    const y = offset + index * pitch;
    for (const bar of bars) {
      if (bar.kind === 'unhealthy') continue;
      const left = x(bar.from);
      context.fillStyle = colourOf(bar.kind, colours);
      context.globalAlpha = bar.kind === 'tolerated' || bar.kind === 'protection' ? 0.55 : 1;
      context.fillRect(left, y, Math.max(1.5, Math.min(width, x(bar.to)) - left), thick);
    }
  }
  context.globalAlpha = 1;
}

export function drawOverview(
  frame: Frame,
  lanes: CanvasImageSource | undefined,
  { day, window }: { readonly day: Day; readonly window: { readonly from: number; readonly to: number } },
): void {
  const { context, width, colours, x } = frame;
  for (const tick of ticksOf(day.start, day.end, width)) {
    const isDay = tick % DAY_MS === 0;
    const at = Math.min(width - 16, Math.max(16, x(tick)));
    text(frame, tickText(tick), [at, 11], {
      colour: isDay ? colours.text : colours.faint,
      size: 11,
      weight: isDay ? 600 : 450,
      align: 'center',
    });
  }
  context.strokeStyle = colours.rule;
  context.strokeRect(0.5, OVERVIEW.ticks + 0.5, width - 1, OVERVIEW.lanes);
  if (lanes !== undefined) context.drawImage(lanes, 0, OVERVIEW.ticks, width, OVERVIEW.lanes);
  const [left, right] = [Math.max(0, x(window.from)), Math.min(width, x(window.to))];
  const beyond = captionOf(day, window);
  if (right + 10 + widthOf(frame, beyond, 11) < width)
    text(frame, beyond, [right + 10, OVERVIEW.ticks + 10], { colour: colours.soft, size: 11 });
  if (window.from <= day.start && window.to >= day.end) return;
  context.fillStyle = colours.accentSoft;
  context.fillRect(left, OVERVIEW.ticks, right - left, OVERVIEW.lanes);
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.6;
  context.strokeRect(left + 0.8, OVERVIEW.ticks + 0.8, Math.max(4, right - left - 1.6), OVERVIEW.lanes - 0.6);
  for (const at of [left, right]) {
    context.fillStyle = colours.bg;
    context.beginPath();
    context.roundRect(at - 3.5, OVERVIEW.ticks + 9, 7, 18, 3);
    context.fill();
    context.stroke();
  }
}

/** What is to be seen behind the window, where it can be said in a few words. */
function captionOf({ lanes, end }: Day, { to }: { readonly to: number }): string {
  if (to >= end) return '';
  const busy = lanes.flatMap(({ name, bars }) =>
    bars.filter(bar => bar.to > to && bar.kind !== 'protection').map(bar => ({ name, bar })),
  );
  const [first] = busy;
  if (first === undefined) return 'quiet to the end';
  const isOne = busy.every(({ name, bar }) => name === first.name && bar.isOpen);
  const words = { drain: 'drains', termination: 'is terminated', unhealthy: 'is unhealthy', held: 'is held' } as const;
  const { kind } = first.bar;
  return isOne && kind in words
    ? `${first.name} ${kind === 'drain' || kind === 'termination' || kind === 'unhealthy' || kind === 'held' ? words[kind] : ''} to the end; all else is quiet`
    : '';
}

export const AXIS_HEIGHT = 25;

export function drawAxis(
  frame: Frame,
  {
    window,
    time,
  }: { readonly window: { readonly from: number; readonly to: number }; readonly time: number | undefined },
): void {
  const { context, width, colours, x } = frame;
  const flag = time === undefined ? undefined : x(time);
  for (const tick of ticksOf(window.from, window.to, width)) {
    const at = x(tick);
    if (flag !== undefined && Math.abs(at - flag) < 55) continue;
    const isEdge = at < 18 || at > width - 18;
    text(frame, tickText(tick), [isEdge ? Math.min(width - 2, Math.max(2, at)) : at, 12], {
      colour: colours.text,
      size: 12,
      align: at < 18 ? 'left' : at > width - 18 ? 'right' : 'center',
    });
  }
  if (flag === undefined || time === undefined || flag < -40 || flag > width + 40) return;
  const words = clockText(time);
  const wide = widthOf(frame, words, 12, 650) + 14;
  const left = Math.min(width - wide, Math.max(0, flag - wide / 2));
  context.fillStyle = colours.accent;
  context.beginPath();
  context.roundRect(left, 3, wide, 18, 4);
  context.fill();
  text(frame, words, [left + wide / 2, 12.5], { colour: colours.bg, size: 12, weight: 650, align: 'center' });
  context.fillRect(Math.round(flag), 21, 1.5, 4);
}
