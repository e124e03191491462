/** Draws a count over time against its limit. */
import { valueAt } from '../src/day/strips.ts';
import type { Strip } from '../src/day/types.ts';
import { text, widthOf, type Frame } from './frame.ts';

export const STRIP_HEIGHT = 21;

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
