/** The four canvases of the page: the whole day, the axis, what happened with the strips, and the lanes in sight. */
import type { Day } from '../src/day/types.ts';
import { h } from './dom.ts';
import { drawHappenings, HAPPENINGS_HEIGHT, type PlacedHappening } from './draw-happenings.ts';
import { AXIS_HEIGHT, drawAxis, drawOverview, drawOverviewLanes, OVERVIEW } from './draw-overview.ts';
import { drawStrip, STRIP_HEIGHT } from './draw-strip.ts';
import { drawInstant, drawLanes } from './draw-lanes.ts';
import { frameOf, type Frame } from './frame.ts';
import { STRIPS } from './head-names.ts';
import type { Layout } from './layout.ts';
import type { View } from './state.ts';

interface Scene {
  readonly day: Day;
  readonly layout: Layout;
  readonly view: View;
  readonly colours: Frame['colours'];
  /** Of the lanes in sight, and how far they are scrolled. */
  readonly size: { readonly width: number; readonly height: number; readonly top: number };
}

export interface Pictures {
  readonly canvases: Readonly<Record<'overview' | 'axis' | 'head' | 'lanes', HTMLCanvasElement>>;
  /** Marks that the last drawing had. */
  readonly drawn: number;
  /** Where the last drawing has what happened. */
  readonly happenings: readonly PlacedHappening[];
  draw(scene: Scene): void;
  /** The small picture of all lanes, which is drawn once, is no longer right. */
  forget(): void;
}

/** Narrower than this nothing can be seen. */
const LEAST_WIDTH = 40;

export function createPictures(): Pictures {
  const canvases = {
    overview: h('canvas'),
    axis: h('canvas'),
    head: h('canvas'),
    lanes: h('canvas', { 'aria-hidden': 'true' }),
  };
  let overviewLanes: HTMLCanvasElement | undefined;
  let happenings: readonly PlacedHappening[] = [];
  let drawn = 0;
  return {
    canvases,
    get drawn() {
      return drawn;
    },
    get happenings() {
      return happenings;
    },
    forget: () => void (overviewLanes = undefined),
    draw(scene) {
      const { day, layout, view, colours, size } = scene;
      const { width, height, top } = size;
      if (width < LEAST_WIDTH) return;
      const whole = { from: day.start, to: day.end };
      overviewLanes ??= drawAllLanes(scene);
      const overview = frameOf(canvases.overview, { width, height: OVERVIEW.height }, whole, colours);
      if (overview !== undefined) drawOverview(overview, overviewLanes, { day, window: view });
      const axis = frameOf(canvases.axis, { width, height: AXIS_HEIGHT }, view, colours);
      if (axis !== undefined) drawAxis(axis, { window: view, time: view.time });
      const strips = day.strips.slice(0, STRIPS);
      const headHeight = HAPPENINGS_HEIGHT + strips.length * STRIP_HEIGHT + 4;
      const head = frameOf(canvases.head, { width, height: headHeight }, view, colours);
      if (head !== undefined) {
        happenings = drawHappenings(head, day.happenings);
        for (const [index, strip] of strips.entries())
          drawStrip(head, strip, HAPPENINGS_HEIGHT + index * STRIP_HEIGHT, view);
        drawInstant(head, view.time);
      }
      const lanes = frameOf(canvases.lanes, { width, height }, view, colours);
      if (lanes !== undefined) drawn = drawLanes(lanes, { day, layout, view, top });
    },
  };
}

function drawAllLanes({ day, layout, colours, size: { width } }: Scene): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const frame = frameOf(canvas, { width, height: OVERVIEW.lanes }, { from: day.start, to: day.end }, colours);
  const ordered = layout.rows.flatMap(row => (row.kind === 'lane' ? [row.lane] : row.kind === 'fold' ? row.lanes : []));
  if (frame !== undefined) drawOverviewLanes(frame, ordered);
  return canvas;
}
