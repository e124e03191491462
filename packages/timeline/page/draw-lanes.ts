/** Draws the lanes that are in sight. */
import type { Sentence } from '../src/day/sentences.ts';
import { waitedFor } from '../src/day/sentences.ts';
import { shortClock, spanText } from '../src/day/text.ts';
import type { Bar, Day, Lane, Mark } from '../src/day/types.ts';
import { text, ticksOf, widthOf, type Frame } from './frame.ts';
import { HEIGHTS, type LaneRow, type Layout } from './layout.ts';
import type { View } from './state.ts';
import { barLabel } from './labels.ts';
import { colourOf, fillOf, patternOf } from './theme.ts';

/** Within a lane, from its top. */
const BAR = { top: 11, height: 12 } as const;
const PROTECTION = 0;

export interface Scene {
  readonly day: Day;
  readonly layout: Layout;
  readonly view: Pick<View, 'from' | 'to' | 'node' | 'time'>;
  /** How far the lanes are scrolled. */
  readonly top: number;
}

/** Answers how many marks were drawn. */
export function drawLanes(frame: Frame, scene: Scene): number {
  const { context, width, height, colours, x } = frame;
  const { layout, view, top } = scene;
  context.fillStyle = colours.grid;
  for (const tick of ticksOf(view.from, view.to, width)) context.fillRect(Math.round(x(tick)), 0, 1, height);
  let drawn = 0;
  const inSight = layout.rows.filter(row => row.y + row.height > top && row.y < top + height);
  for (const row of inSight) {
    const y = row.y - top;
    if (row.kind === 'group') {
      context.fillStyle = colours.rule;
      context.fillRect(0, y, width, 1);
    } else if (row.kind === 'lane') drawn += drawLane(frame, row, y, scene);
    else if (row.kind === 'hook') drawHook(frame, row, y);
    else if (row.kind === 'pod') drawPod(frame, row, y);
    else drawFold(frame, row, y);
  }
  drawArrow(frame, scene);
  drawInstant(frame, view.time);
  return drawn;
}

export function drawInstant({ context, height, width, colours, x }: Frame, time: number | undefined): void {
  if (time === undefined) return;
  const at = Math.round(x(time));
  if (at < 0 || at > width) return;
  context.fillStyle = colours.accent;
  context.fillRect(at, 0, 1.5, height);
}

function drawLane(
  frame: Frame,
  { lane, sentence }: Extract<LaneRow, { kind: 'lane' }>,
  y: number,
  { view, day }: Scene,
): number {
  const { context, width, colours, x } = frame;
  if (lane.name === view.node) {
    context.fillStyle = colours.accentSoft;
    context.fillRect(0, y, width, HEIGHTS.lane);
  }
  context.fillStyle = colours.grid;
  context.fillRect(
    Math.max(0, x(lane.from)),
    y + BAR.top + BAR.height / 2,
    Math.min(width, x(lane.end?.time ?? day.end)) - Math.max(0, x(lane.from)),
    1,
  );
  let drawn = 0;
  const seen = lane.bars.filter(({ from, to }) => to >= view.from && from <= view.to);
  for (const bar of seen.filter(({ kind }) => kind === 'unhealthy')) drawn += drawBand(frame, bar, y, sentence);
  for (const bar of seen.filter(({ kind }) => kind === 'protection')) drawn += drawProtection(frame, bar, y, lane);
  for (const bar of seen.filter(({ kind }) => kind !== 'unhealthy' && kind !== 'protection'))
    drawn += drawBar(frame, bar, y, lane);
  drawWaits(frame, lane, y);
  drawn += drawMarks(frame, lane.marks, y);
  if (lane.end !== undefined) drawEnd(frame, x(lane.end.time), y);
  if (sentence !== undefined) drawSentence(frame, sentence, lane, y);
  return drawn;
}

/** At least so wide that it can be seen. */
function spanOf({ x, width }: Frame, { from, to }: Pick<Bar, 'from' | 'to'>, least = 2): readonly [number, number] {
  const left = Math.max(-4, x(from));
  return [left, Math.max(least, Math.min(width + 4, x(to)) - left)];
}

function drawBand(frame: Frame, bar: Bar, y: number, sentence: Sentence | undefined): number {
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

function drawBar(frame: Frame, bar: Bar, y: number, lane: Lane): number {
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
function drawWaits(frame: Frame, { waits }: Lane, y: number): void {
  const { context, colours } = frame;
  context.fillStyle = colours.amber;
  for (const wait of waits) {
    const [left, wide] = spanOf(frame, wait, 0);
    if (left > frame.width || left + wide < 0) continue;
    for (let at = 0; at < wide; at += 6)
      context.fillRect(left + at, y + BAR.top + BAR.height + 1, Math.min(3.6, wide - at), 2);
  }
}

function drawProtection(frame: Frame, bar: Bar, y: number, { end }: Lane): number {
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

/** Near marks of one kind are one. */
const NEAR = 5;

function drawMarks(frame: Frame, marks: readonly Mark[], y: number): number {
  const { context, width, colours, x } = frame;
  const last = new Map<Mark['kind'], number>();
  let drawn = 0;
  for (const { kind, time } of marks) {
    const at = x(time);
    if (at < -5 || at > width + 5 || kind === 'gone' || at - (last.get(kind) ?? -99) < NEAR) continue;
    last.set(kind, at);
    drawn += 1;
    if (kind === 'write') {
      context.fillStyle = colours.accent;
      context.fillRect(at, y + 22, 1.5, 5);
      continue;
    }
    context.beginPath();
    if (kind === 'other') {
      context.moveTo(at, y - 1.5);
      context.lineTo(at + 3, y + 1.5);
      context.lineTo(at, y + 4.5);
      context.lineTo(at - 3, y + 1.5);
    } else {
      context.moveTo(at, y + 22);
      context.lineTo(at + 3, y + 27.2);
      context.lineTo(at - 3, y + 27.2);
    }
    context.closePath();
    context.fillStyle = kind === 'warning' ? colours.text : colours.bg;
    context.fill();
    context.strokeStyle = kind === 'other' ? colours.soft : colours.text;
    context.lineWidth = 0.9;
    context.stroke();
  }
  return drawn;
}

function drawEnd({ context, colours }: Frame, x: number, y: number): void {
  const [left, top] = [x + 3, y + BAR.top + 2.5];
  context.strokeStyle = colours.red;
  context.lineWidth = 1.8;
  context.beginPath();
  context.moveTo(left, top);
  context.lineTo(left + 7, top + 7);
  context.moveTo(left + 7, top);
  context.lineTo(left, top + 7);
  context.stroke();
}

const TONES = {
  plain: 'text',
  red: 'redText',
  amber: 'amberText',
  green: 'greenText',
  violet: 'violet',
  blue: 'blue',
} as const;

function drawSentence(
  frame: Frame,
  { before, strong, rest, tone, from, to }: Sentence,
  { end }: Lane,
  y: number,
): void {
  const { width, colours, x } = frame;
  const [left, right] = [x(from), x(to)];
  if (right < 0 || left > width) return;
  const middle = y + BAR.top + 6.2;
  const wide = widthOf(frame, strong, 11.5, 650) + widthOf(frame, rest);
  const gap = end === undefined ? 8 : 15;
  if (right + gap + wide <= width) {
    if (before !== '' && left > widthOf(frame, before) + 8)
      text(frame, before, [left - 7, middle], { colour: colours.soft, align: 'right' });
    text(frame, strong, [right + gap, middle], { colour: colours[TONES[tone]], weight: 650 });
    text(frame, rest, [right + gap + widthOf(frame, strong, 11.5, 650), middle], { colour: colours.soft });
    return;
  }
  // No room behind the bars: what came before, the end and the rest stand in front of them.
  const lead = before === '' ? '' : `${before}; `;
  if (left < widthOf(frame, lead) + wide + 12) return;
  let at = left - 7;
  for (const [words, colour, weight] of [
    [rest, colours.soft, 450],
    [strong, colours[TONES[tone]], 650],
    [lead, colours.soft, 450],
  ] as const) {
    text(frame, words, [at, middle], { colour, weight, align: 'right' });
    at -= widthOf(frame, words, 11.5, weight);
  }
}

function drawHook(frame: Frame, { hook }: Extract<LaneRow, { kind: 'hook' }>, y: number): void {
  const { context, colours } = frame;
  const [left, wide] = spanOf(frame, hook, 5);
  context.strokeStyle = colours.red;
  context.lineWidth = 1.3;
  context.strokeRect(left + 0.5, y + 3, wide, 9);
  const words =
    hook.result === 'succeeded'
      ? `hook, done after ${spanText(hook.to - hook.from)}`
      : hook.result === 'not waited for'
        ? 'hook, called and not waited for'
        : hook.result === 'running'
          ? 'hook, no answer so far'
          : `hook, ${hook.result} at ${shortClock(hook.to)}`;
  text(frame, words, [left + wide + 6, y + 7.5], { colour: colours.soft, size: 10.5 });
}

function drawPod(frame: Frame, { pod, lane }: Extract<LaneRow, { kind: 'pod' }>, y: number): void {
  const { context, colours, x, width } = frame;
  const [left, wide] = spanOf(frame, pod);
  context.fillStyle = colours.pod;
  context.fillRect(left, y + 3, wide, 9);
  context.strokeStyle = colours.podEdge;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, y + 3.5, wide - 1, 8);
  const protection =
    pod.protection === undefined ? 'running' : `running, karpenter.sh/do-not-disrupt: ${pod.protection}`;
  if (widthOf(frame, protection, 10) + 8 < wide)
    text(frame, protection, [Math.max(left, 0) + 4, y + 7.8], { colour: colours.soft, size: 10 });
  const budget = lane.waits.find(({ isBudget }) => isBudget);
  const numbers = budget && /needs (\d+) healthy pods and has (\d+)/.exec(budget.detail);
  if (numbers && x(budget.to) > 0 && x(budget.from) < width)
    text(frame, `PDB ${numbers[2] ?? ''} of ${numbers[1] ?? ''}`, [Math.min(x(budget.to), left + wide) - 5, y + 7.8], {
      colour: colours.amberText,
      size: 10,
      weight: 600,
      align: 'right',
    });
  if (pod.isOpen) return;
  const until = lane.bars.find(({ kind }) => kind === 'protection')?.until;
  if (pod.isTaken && until !== undefined && until > pod.to) {
    context.strokeStyle = colours.green;
    context.setLineDash([2, 2]);
    context.strokeRect(x(pod.to) + 0.5, y + 3.5, x(until) - x(pod.to), 8);
    context.setLineDash([]);
    text(frame, `taken ${spanText(until - pod.to)} before its protection ended`, [x(until) + 6, y + 7.8], {
      colour: colours.greenText,
      size: 10.5,
      weight: 650,
    });
  } else text(frame, 'gone', [left + wide + 6, y + 7.8], { colour: colours.soft, size: 10.5 });
}

function drawFold(frame: Frame, { lanes, text: words }: Extract<LaneRow, { kind: 'fold' }>, y: number): void {
  const { context, colours } = frame;
  const [first] = lanes;
  const bar = first?.bars.find(({ kind }) => kind === 'protection');
  if (bar === undefined) {
    text(frame, words, [6, y + 8.5], { colour: colours.faint, size: 10.5 });
    return;
  }
  const [left, wide] = spanOf(frame, bar);
  context.fillStyle = colours.green;
  context.fillRect(left, y + 7.5, wide, 2);
  context.fillRect(left + wide - 1, y + 4.5, 2, 8);
  text(frame, words, [Math.max(left + wide, 0) + 7, y + 8.5], { colour: colours.greenText, size: 10.5, weight: 500 });
}

/** The dashed arrow of a held repair: to the one that it waits for. */
function drawArrow(frame: Frame, { day, layout, view, top }: Scene): void {
  const { context, colours, x } = frame;
  const own = layout.rows.find(row => row.kind === 'lane' && row.lane.name === view.node);
  if (own?.kind !== 'lane' || view.time === undefined) return;
  const { time } = view;
  const hold = own.lane.bars.find(({ kind, from, to }) => kind === 'held' && from <= time && time <= to);
  const name = hold && waitedFor(hold, own.lane.name, day.lanes);
  const other = layout.rows.find(row => row.kind === 'lane' && row.lane.name === name);
  if (hold === undefined || name === undefined || other === undefined) return;
  const [from, to] = [
    own.y - top + BAR.top + BAR.height + 2,
    other.y - top + (other.y > own.y ? BAR.top - 2 : BAR.top + BAR.height + 2),
  ];
  const at = x(hold.from) - 5;
  context.strokeStyle = colours.amberText;
  context.lineWidth = 1.2;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x(hold.from) + 1, from);
  context.lineTo(at, from + 6);
  context.lineTo(at, to - 3);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(at - 3, to - 6);
  context.lineTo(at, to);
  context.lineTo(at + 3, to - 6);
  context.fillStyle = colours.amberText;
  context.fill();
  text(frame, `${own.lane.name} waits for ${name}`, [at - 8, to - 12], {
    colour: colours.amberText,
    size: 10.5,
    align: 'right',
  });
}
