/** What the bars and marks mean; of guards, those that occur. */
import { guardName } from '../src/day/text.ts';
import type { Bar, Day } from '../src/day/types.ts';
import { h } from './dom.ts';
import { drawSample } from './draw-sample.ts';
import { frameOf } from './frame.ts';
import type { Colours } from './theme.ts';

interface Sample {
  readonly kind: Bar['kind'];
  readonly guard?: string | undefined;
  readonly waits?: boolean;
  readonly words: string;
}

export function legend(element: HTMLElement, day: Day, colours: Colours): void {
  const bars = day.lanes.flatMap(lane => lane.bars);
  const has = (kind: Bar['kind']): boolean => bars.some(bar => bar.kind === kind);
  const guards = [...new Set(bars.flatMap(({ guard }) => (guard === undefined ? [] : [guard])))].slice(0, 4);
  const samples: readonly Sample[] = [
    { kind: 'unhealthy', words: 'unhealthy' },
    { kind: 'tolerated', words: 'tolerated' },
    ...guards.map(guard => ({
      kind: 'held' as const,
      guard,
      words: `held: ${guardName(guard)
        .replace(/^an? |^the /, '')
        .replace('limit of the cluster', 'cluster limit')}`,
    })),
    { kind: 'drain', waits: true, words: 'acts, but waits' },
    { kind: 'drain', words: 'drain' },
    ...(has('reboot') ? [{ kind: 'reboot' as const, words: 'reboot' }] : []),
    { kind: 'termination', words: 'termination, × end' },
    ...(has('replacement') ? [{ kind: 'replacement' as const, words: 'replacement' }] : []),
    { kind: 'protection', words: 'protection' },
  ];
  element.replaceChildren(
    ...samples.map(sample => h('span', {}, sampleCanvas(sample, colours), sample.words)),
    ...['△ Event', '▲ Warning', '❘ write', '◇ done by others'].map(words => h('span', {}, words)),
  );
}

function sampleCanvas(sample: Sample, colours: Colours): HTMLCanvasElement {
  const canvas = h('canvas', { 'aria-hidden': 'true' });
  const frame = frameOf(canvas, { width: 18, height: 14 }, { from: 0, to: 1 }, colours);
  if (frame !== undefined) drawSample(frame, sample);
  return canvas;
}
