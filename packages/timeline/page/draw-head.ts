/** Draws what stands above the lanes: the whole day in small, the axis, what happened, the strips. */
import { valueAt } from '../src/day/strips.ts';
import { clockText, dayText, shortClock } from '../src/day/text.ts';
import type { Day, Happening, Lane, Strip } from '../src/day/types.ts';
import { text, ticksOf, widthOf, type Frame } from './frame.ts';
import { colourOf, fillOf, patternOf } from './theme.ts';

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

export const HAPPENINGS_HEIGHT = 24;
export const STRIP_HEIGHT = 21;

/** Where the title of a happening was drawn, for the pointer. */
export interface PlacedHappening {
  readonly happening: Happening;
  readonly left: number;
  readonly right: number;
}

export function drawHappenings(frame: Frame, happenings: readonly Happening[]): readonly PlacedHappening[] {
  const { context, width, colours, x } = frame;
  const placed: PlacedHappening[] = [];
  let free = -Infinity;
  const seen = happenings.filter(({ time }) => x(time) >= -4 && x(time) <= width + 4);
  for (const [index, happening] of seen.entries()) {
    const at = x(happening.time);
    const next = seen[index + 1];
    const limit = next === undefined ? width : x(next.time) - 7;
    // Right of its mark where there is room, else left of it, else as much as fits.
    const wide = widthOf(frame, happening.title, 11) + 10;
    const isLeft = at + wide > limit && at - wide >= Math.max(0, free);
    const words = isLeft ? happening.title : fitted(frame, happening.title, limit - at - 10);
    diamond(frame, at, 12);
    text(frame, words, [isLeft ? at - 7 : at + 7, 12], {
      colour: colours.text,
      size: 11,
      align: isLeft ? 'right' : 'left',
    });
    const right = isLeft || words === '' ? at + 7 : at + widthOf(frame, words, 11) + 12;
    free = right;
    placed.push({ happening, left: isLeft ? at - wide : at - 5, right });
  }
  context.textAlign = 'left';
  return placed;
}

/** As many letters as fit; none where too few would. */
function fitted(frame: Frame, words: string, room: number): string {
  if (widthOf(frame, words, 11) <= room) return words;
  // What it is about stood there when it was lost.
  const end = /\bis back$/.exec(words)?.[0];
  if (end !== undefined && widthOf(frame, end, 11) <= room) return end;
  const [first = ''] = words.split(' ');
  if (/\d/.test(first) && widthOf(frame, first, 11) <= room) return first;
  for (let length = words.length - 1; length >= 6; length -= 1) {
    const short = `${words.slice(0, length).trimEnd()}…`;
    if (widthOf(frame, short, 11) <= room) return short;
  }
  return '';
}

function diamond({ context, colours }: Frame, x: number, y: number): void {
  context.fillStyle = colours.text;
  context.beginPath();
  context.moveTo(x, y - 4);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 4);
  context.lineTo(x - 4, y);
  context.fill();
}

/** A step line of the count against a dashed one of its limit. */
export function drawStrip(
  frame: Frame,
  strip: Strip,
  y: number,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const { context, width, colours, x } = frame;
  const most = Math.max(1, ...strip.count.values, ...strip.limit.values);
  const base = y + STRIP_HEIGHT - 3;
  const unit = (STRIP_HEIGHT - 8) / most;
  context.fillStyle = colours.rule;
  context.fillRect(0, base, width, 1);
  const { times, values } = strip.count;
  let labelled = -Infinity;
  for (const [index, time] of times.entries()) {
    const value = values[index] ?? 0;
    const end = times[index + 1] ?? to;
    if (value === 0 || end < from || time > to) continue;
    const [left, right] = [Math.max(0, x(time)), Math.min(width, x(end))];
    context.fillStyle = strip.kind === 'repairs' ? colours.hatch : colours.band;
    context.fillRect(left, base - value * unit, Math.max(1.5, right - left), value * unit);
    context.fillStyle = colours.bandEdge;
    context.fillRect(left, base - value * unit, Math.max(1.5, right - left), 1.3);
    if (left - labelled > 16 && right - left > 12) {
      text(frame, String(value), [left - 4, base - 5], { colour: colours.soft, size: 11, align: 'right' });
      labelled = right;
    }
  }
  if (strip.limit.values.length === 0) return;
  context.strokeStyle = colours.amberText;
  context.lineWidth = 1;
  context.setLineDash([3, 2]);
  context.beginPath();
  for (const [index, time] of strip.limit.times.entries()) {
    const level = base - (strip.limit.values[index] ?? 0) * unit + 0.5;
    context.lineTo(Math.max(0, x(time)), level);
    context.lineTo(Math.min(width, x(strip.limit.times[index + 1] ?? to)), level);
  }
  context.stroke();
  context.setLineDash([]);
  const limit = valueAt(strip.limit, Math.max(from, strip.limit.times[0] ?? from));
  const unitText = strip.kind === 'repairs' ? `repair${limit === 1 ? '' : 's'}` : `node${limit === 1 ? '' : 's'}`;
  const words = strip.limitText.endsWith('%') ? `${strip.limitText} is ${limit} ${unitText}` : strip.limitText;
  const at = freeAt(frame, strip, widthOf(frame, words, 10.5), to);
  const wide = widthOf(frame, words, 10.5);
  context.fillStyle = colours.bg;
  context.fillRect(at - 3, base - 12, wide + 6, 11);
  text(frame, words, [at, base - 6.5], { colour: colours.amberText, size: 10.5 });
}

/** A place for words where the count is 0: nothing is hidden behind them. */
function freeAt({ width, x }: Frame, { count: { times, values } }: Strip, wide: number, to: number): number {
  const wanted = width * 0.47;
  let best = width - wide - 8;
  let distance = Infinity;
  for (const [index, time] of times.entries()) {
    if (values[index] !== 0) continue;
    const [left, right] = [Math.max(0, x(time)) + 10, Math.min(width, x(times[index + 1] ?? to)) - 26 - wide];
    if (right < left) continue;
    const at = Math.min(right, Math.max(left, wanted));
    if (Math.abs(at - wanted) >= distance) continue;
    distance = Math.abs(at - wanted);
    best = at;
  }
  return best;
}

/** The samples of the legend, drawn as in the lanes. */
export function drawSample(
  frame: Frame,
  sample: {
    readonly kind: Parameters<typeof colourOf>[0];
    readonly guard?: string | undefined;
    readonly waits?: boolean;
  },
): void {
  const { context, colours, width, height } = frame;
  const colour = colourOf(sample.kind, colours);
  if (sample.kind === 'protection') {
    context.fillStyle = colour;
    context.fillRect(0, height / 2 - 1, width, 2);
    context.fillRect(width - 2, height / 2 - 4, 2, 8);
    return;
  }
  context.fillStyle = fillOf(context, patternOf(sample), colour, colours.bg);
  context.fillRect(0, 1, width, height - (sample.waits === true ? 5 : 2));
  if (sample.kind === 'unhealthy') {
    context.fillStyle = colours.bandEdge;
    context.fillRect(0, 1, 1.2, height - 2);
    return;
  }
  context.strokeStyle = colour;
  context.strokeRect(0.5, 1.5, width - 1, height - (sample.waits === true ? 6 : 3));
  if (sample.waits !== true) return;
  context.fillStyle = colours.amber;
  for (let at = 0; at < width; at += 6) context.fillRect(at, height - 2, 3.6, 2);
}
