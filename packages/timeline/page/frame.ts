/** A canvas, its size, and where an instant stands on it. */
import { scaleUtc } from 'd3-scale';
import type { Colours } from './theme.ts';

const FONT = "'Inter Variable', Inter, system-ui, 'Liberation Sans', sans-serif";

export interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  /** Where an instant stands, in CSS pixels. */
  readonly x: (time: number) => number;
}

/** Sizes the canvas for the screen's grid and clears it; undefined where there is no canvas. */
export function frameOf(
  canvas: HTMLCanvasElement,
  size: { readonly width: number; readonly height: number },
  window: { readonly from: number; readonly to: number },
  colours: Colours,
): Frame | undefined {
  const context = canvas.getContext('2d');
  if (context === null) return undefined;
  const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
  const [width, height] = [Math.max(1, Math.round(size.width)), Math.max(1, Math.round(size.height))];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = 'middle';
  const perMs = width / (window.to - window.from);
  return { context, width, height, colours, x: time => (time - window.from) * perMs };
}

/** Instants for marks on the axis, at round times; about one every 130 pixels. */
export const ticksOf = (from: number, to: number, width: number): readonly number[] =>
  scaleUtc()
    .domain([from, to])
    .ticks(Math.max(2, Math.floor(width / 130)))
    .map(Number);

export function text(
  { context }: Frame,
  words: string,
  [x, y]: readonly [number, number],
  {
    colour,
    size = 11.5,
    weight = 450,
    align = 'left',
  }: { readonly colour: string; readonly size?: number; readonly weight?: number; readonly align?: CanvasTextAlign },
): void {
  context.font = `${weight} ${size}px ${FONT}`;
  context.textAlign = align;
  context.fillStyle = colour;
  context.fillText(words, x, y);
}

const widths = new Map<string, number>();

export function widthOf({ context }: Frame, words: string, size = 11.5, weight = 450): number {
  const key = `${size} ${weight} ${words}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context.font = `${weight} ${size}px ${FONT}`;
  const { width } = context.measureText(words);
  widths.set(key, width);
  return width;
}

/** Forgets what words measured: another font has come. */
export const forgetWidths = (): void => widths.clear();
