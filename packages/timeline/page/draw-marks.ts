/** Draws the instants of a lane: Events, writes, what others did, and the end of a node. */
import type { Mark } from '../src/day/types.ts';
import { BAR } from './draw-bars.ts';
import type { Frame } from './frame.ts';

/** Near marks of one kind are one. */
const NEAR = 5;

export function drawMarks(frame: Frame, marks: readonly Mark[], y: number): number {
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

export function drawEnd({ context, colours }: Frame, x: number, y: number): void {
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
