/** Draws the lanes that are in sight. */
import type { Day } from '../src/day/types.ts';
import { waitedFor } from '../src/day/sentences.ts';
import { BAR, drawBand, drawBar, drawProtection, drawWaits } from './draw-bars.ts';
import { drawEnd, drawMarks } from './draw-marks.ts';
import { drawFold, drawHook, drawPod } from './draw-rows.ts';
import { drawSentence } from './draw-sentence.ts';
import { text, ticksOf, type Frame } from './frame.ts';
import { HEIGHTS, type LaneRow, type Layout } from './layout.ts';
import type { View } from './state.ts';

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
