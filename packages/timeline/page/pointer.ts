/** Mouse, touch and wheel: select, drag, zoom, the brush of the overview, and what the pointer is over. */
import type { LaneRow } from './layout.ts';

export interface PointerHost {
  /** The instant at a share of the plot's width. */
  timeAt(share: number): number;
  wholeTimeAt(share: number): number;
  window(): { readonly from: number; readonly to: number };
  zoom(factor: number, at: number): void;
  setWindow(from: number, to: number): void;
  rowAt(y: number): LaneRow | undefined;
  select(row: LaneRow, time: number): void;
  tip(row: LaneRow | undefined, time: number, point: { readonly x: number; readonly y: number }, slack: number): void;
  headTip(x: number, point: { readonly x: number; readonly y: number }): void;
}

interface Canvases {
  readonly overview: HTMLCanvasElement;
  readonly axis: HTMLCanvasElement;
  readonly head: HTMLCanvasElement;
  readonly lanes: HTMLCanvasElement;
  /** What scrolls the lanes. */
  readonly element: HTMLElement;
}

/** A movement of so many pixels is a drag, and no click. */
const DRAG = 4;
/** Nearer than this to an edge of the brush moves the edge. */
const EDGE = 7;

export function listenToPointer(canvases: Canvases, host: PointerHost): void {
  for (const canvas of [canvases.lanes, canvases.head, canvases.axis]) {
    dragToPan(canvas, host);
    canvas.addEventListener('wheel', event => onWheel(event, canvas, host), { passive: false });
  }
  canvases.lanes.addEventListener('click', event => {
    if (canvases.lanes.dataset['dragged'] === 'yes') return;
    const { x, y, width } = placeIn(event, canvases.lanes);
    const row = host.rowAt(y + canvases.element.scrollTop);
    if (row !== undefined) host.select(row, host.timeAt(x / width));
  });
  canvases.lanes.addEventListener('mousemove', event => {
    const { x, y, width } = placeIn(event, canvases.lanes);
    const { from, to } = host.window();
    host.tip(
      host.rowAt(y + canvases.element.scrollTop),
      host.timeAt(x / width),
      { x: event.clientX, y: event.clientY },
      ((to - from) / width) * 4,
    );
  });
  canvases.head.addEventListener('mousemove', event =>
    host.headTip(placeIn(event, canvases.head).x, { x: event.clientX, y: event.clientY }),
  );
  for (const canvas of [canvases.lanes, canvases.head])
    canvas.addEventListener('mouseleave', () => host.tip(undefined, 0, { x: 0, y: 0 }, 0));
  brush(canvases.overview, host);
}

function placeIn(
  event: MouseEvent,
  canvas: HTMLCanvasElement,
): { readonly x: number; readonly y: number; readonly width: number } {
  const { left, top, width } = canvas.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top, width };
}

/** Shift or a sideways wheel pans, Ctrl or a pinch zooms; else the lanes scroll. */
function onWheel(event: WheelEvent, canvas: HTMLCanvasElement, host: PointerHost): void {
  const { x, width } = placeIn(event, canvas);
  const { from, to } = host.window();
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    host.zoom(Math.exp(event.deltaY * 0.004), host.timeAt(x / width));
  } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    event.preventDefault();
    const by = (sideways / width) * (to - from);
    host.setWindow(from + by, to + by);
  }
}

function dragToPan(canvas: HTMLCanvasElement, host: PointerHost): void {
  canvas.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    canvas.dataset['dragged'] = 'no';
    const { width } = placeIn(event, canvas);
    const { from, to } = host.window();
    const begun = event.clientX;
    const move = ({ clientX }: PointerEvent): void => {
      if (Math.abs(clientX - begun) > DRAG) canvas.dataset['dragged'] = 'yes';
      if (canvas.dataset['dragged'] !== 'yes') return;
      const by = ((begun - clientX) / width) * (to - from);
      host.setWindow(from + by, to + by);
    };
    followPointer(canvas, event, move);
  });
}

/** The brush: an edge moves an edge, the inside moves the window, elsewhere begins a new one. */
function brush(canvas: HTMLCanvasElement, host: PointerHost): void {
  canvas.addEventListener('pointerdown', event => {
    const { x, width } = placeIn(event, canvas);
    const { from, to } = host.window();
    const at = (pixels: number): number => host.wholeTimeAt(Math.min(1, Math.max(0, pixels / width)));
    const pixelOf = (time: number): number =>
      ((time - host.wholeTimeAt(0)) / (host.wholeTimeAt(1) - host.wholeTimeAt(0))) * width;
    const isWhole = from <= host.wholeTimeAt(0) && to >= host.wholeTimeAt(1);
    const near = (time: number): boolean => Math.abs(pixelOf(time) - x) <= EDGE;
    const ordered = (a: number, b: number): void => host.setWindow(Math.min(a, b), Math.max(a, b));
    const { left } = canvas.getBoundingClientRect();
    const move = ({ clientX }: PointerEvent): void => {
      const now = at(clientX - left);
      if (!isWhole && near(from)) ordered(now, to);
      else if (!isWhole && near(to)) ordered(from, now);
      else if (!isWhole && at(x) > from && at(x) < to) host.setWindow(from + now - at(x), to + now - at(x));
      else if (Math.abs(clientX - left - x) > DRAG) ordered(at(x), now);
    };
    followPointer(canvas, event, move);
  });
  canvas.addEventListener('dblclick', () => host.setWindow(host.wholeTimeAt(0), host.wholeTimeAt(1)));
}

function followPointer(
  canvas: HTMLCanvasElement,
  { pointerId }: PointerEvent,
  move: (event: PointerEvent) => void,
): void {
  canvas.setPointerCapture(pointerId);
  canvas.addEventListener('pointermove', move);
  const end = (): void => canvas.removeEventListener('pointermove', move);
  canvas.addEventListener('pointerup', end, { once: true });
  canvas.addEventListener('pointercancel', end, { once: true });
}
