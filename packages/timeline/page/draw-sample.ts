/** Draws what the legend explains, as the lanes have it. */
import type { Frame } from './frame.ts';
import { colourOf, fillOf, patternOf } from './theme.ts';

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
