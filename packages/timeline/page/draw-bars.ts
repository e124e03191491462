/** Draws what a stretch of a node's day was: bands, bars, waits, protections. */
import type { Sentence } from '../src/day/sentences.ts';
import { shortClock } from '../src/day/text.ts';
import type { Bar, Lane } from '../src/day/types.ts';
import { text, widthOf, type Frame } from './frame.ts';
import { barLabel } from './labels.ts';
import { colourOf, fillOf, patternOf } from './theme.ts';

/** Within a lane, from its top. */
export const BAR = { top: 11, height: 12 } as const;
const PROTECTION = 0;

/** At least so wide that it can be seen. */
export function spanOf(
  { x, width }: Frame,
  { from, to }: Pick<Bar, 'from' | 'to'>,
  least = 2,
): readonly [number, number] {
  const left = Math.max(-4, x(from));
  return [left, Math.max(least, Math.min(width + 4, x(to)) - left)];
}

export function drawBand(frame: Frame, bar: Bar, y: number, sentence: Sentence | undefined): number {
  const { context, colours } = frame;
  const [left, wide] = spanOf(frame, bar);
  context.fillStyle = colours.band;
  context.fillRect(left, y, wide, 24);
  context.fillStyle = colours.bandEdge;
  context.fillRect(left, y, 1.2, 24);
  const label = widthOf(frame, bar.label, 10);
  if (label + 10 < wide) text(frame, bar.label, [left + 7, y + 6], { colour: colours.soft, size: 10 });
  else if (wide > 8 && (sentence?.before ?? '') === '')
    text(frame, bar.label, [left - 5, y + 6], { colour: colours.soft, size: 10.5, align: 'right' });
  return 1;
}

export function drawBar(frame: Frame, bar: Bar, y: number, lane: Lane): number {
  const { context, colours } = frame;
  const [left, wide] = spanOf(frame, bar);
  const top = y + BAR.top;
  const pattern = patternOf(bar);
  const colour = colourOf(bar.kind, colours);
  context.fillStyle = fillOf(context, pattern, colour, colours.bg);
  context.fillRect(left, top, wide, BAR.height);
  if (wide >= 3) {
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, wide - 1, BAR.height - 1);
  }
  if (bar.isOpen && bar.kind !== 'held') {
    const right = left + wide;
    text(frame, '»', [Math.min(frame.width - 3, right) - 3, top + 6], {
      colour: colours.onBar,
      size: 13,
      weight: 700,
      align: 'right',
    });
  }
  if (bar.kind === 'tolerated') return 1;
  const isWaiting = lane.waits.some(({ isBudget, from, to }) => isBudget && from < bar.to && to > bar.from);
  const words = barLabel(bar);
  const shown = [...words, isWaiting ? '' : undefined].find(
    each => each !== undefined && widthOf(frame, each, 10, 650) + (isWaiting ? 14 : 7) <= wide,
  );
  if (shown === undefined) return 1;
  const ink =
    bar.kind === 'held' || bar.kind === 'reboot'
      ? colours.amberInk
      : bar.kind === 'replacement'
        ? colours.blue
        : colours.onBar;
  if (isWaiting && wide > 13) drawLock(frame, left + 3, top + 2.5, ink);
  text(frame, shown, [left + (isWaiting ? 11.5 : 4), top + 6.2], { colour: ink, size: 10, weight: 650 });
  return 1;
}

function drawLock({ context }: Frame, x: number, y: number, ink: string): void {
  context.fillStyle = ink;
  context.fillRect(x, y + 3, 6, 4.5);
  context.strokeStyle = ink;
  context.lineWidth = 1.2;
  context.beginPath();
  context.arc(x + 3, y + 3, 2, Math.PI, 0);
  context.stroke();
}

/** Amber dashes below: it acts, and waits. */
export function drawWaits(frame: Frame, { waits }: Lane, y: number): void {
  const { context, colours } = frame;
  context.fillStyle = colours.amber;
  for (const wait of waits) {
    const [left, wide] = spanOf(frame, wait, 0);
    if (left > frame.width || left + wide < 0) continue;
    for (let at = 0; at < wide; at += 6)
      context.fillRect(left + at, y + BAR.top + BAR.height + 1, Math.min(3.6, wide - at), 2);
  }
}

export function drawProtection(frame: Frame, bar: Bar, y: number, { end }: Lane): number {
  const { context, colours, x, width } = frame;
  const [left, wide] = spanOf(frame, bar);
  context.fillStyle = colours.green;
  context.fillRect(left, y + PROTECTION, wide, 2);
  const until = bar.until === undefined ? undefined : x(bar.until);
  const cap = until ?? left + wide;
  if (end !== undefined && until !== undefined && bar.until !== undefined && bar.until > end.time)
    for (let at = left + wide + 2; at < until; at += 4) context.fillRect(at, y + PROTECTION, 2, 2);
  if (cap >= 0 && cap <= width) context.fillRect(cap - 1, y + PROTECTION - 2, 2, 8);
  if (bar.until === undefined) return 1;
  const words = `protected until ${shortClock(bar.until)}`;
  const isPast = end !== undefined && bar.until > end.time;
  if (isPast) text(frame, words, [cap + 5, y + PROTECTION + 1], { colour: colours.greenText, size: 10.5, weight: 500 });
  else if (widthOf(frame, words, 10.5, 500) + 10 < wide)
    text(frame, words, [Math.min(width, cap) - 5, y + PROTECTION + 8], {
      colour: colours.greenText,
      size: 10.5,
      weight: 500,
      align: 'right',
    });
  return 1;
}
