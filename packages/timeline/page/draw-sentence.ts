/** Draws how a node's day ended, in words, where there is room. */
import type { Sentence } from '../src/day/sentences.ts';
import type { Lane } from '../src/day/types.ts';
import { BAR } from './draw-bars.ts';
import { text, widthOf, type Frame } from './frame.ts';

const TONES = {
  plain: 'text',
  red: 'redText',
  amber: 'amberText',
  green: 'greenText',
  violet: 'violet',
  blue: 'blue',
} as const;

export function drawSentence(
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
