/** Draws what happened, above the lanes. */
import type { Happening } from '../src/day/types.ts';
import { text, widthOf, type Frame } from './frame.ts';

export const HAPPENINGS_HEIGHT = 24;

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
