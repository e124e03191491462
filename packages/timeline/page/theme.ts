/** Colours and patterns of what is drawn: everything has a pattern, a shape or a label too, so that it can be read without colour. */
import type { Bar } from '../src/day/types.ts';

export interface Colours {
  readonly bg: string;
  readonly text: string;
  readonly soft: string;
  readonly faint: string;
  readonly grid: string;
  readonly rule: string;
  readonly band: string;
  readonly bandEdge: string;
  readonly hatch: string;
  readonly amber: string;
  readonly amberInk: string;
  readonly amberText: string;
  readonly blue: string;
  readonly violet: string;
  readonly red: string;
  readonly redText: string;
  readonly green: string;
  readonly greenText: string;
  readonly pod: string;
  readonly podEdge: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly onBar: string;
  readonly selected: string;
}

const LIGHT: Colours = {
  bg: '#ffffff',
  text: '#17202c',
  soft: '#5b6675',
  faint: '#8a94a1',
  grid: '#eceef1',
  rule: '#e3e6ea',
  band: 'rgba(60,68,84,0.11)',
  bandEdge: '#5b6675',
  hatch: '#7b8491',
  amber: '#eeb02e',
  amberInk: '#3a2900',
  amberText: '#8a5a00',
  blue: '#2a6cb3',
  violet: '#c396e3',
  red: '#cb4a2a',
  redText: '#b23417',
  green: '#159470',
  greenText: '#0d7a59',
  pod: '#e6e8eb',
  podEdge: '#b9c0c9',
  accent: '#2459c9',
  accentSoft: 'rgba(36,89,201,0.10)',
  onBar: '#ffffff',
  selected: '#eef3fc',
};

const DARK: Colours = {
  bg: '#12161c',
  text: '#e6eaf0',
  soft: '#a3adba',
  faint: '#717c8b',
  grid: '#1f262f',
  rule: '#262d37',
  band: 'rgba(190,200,220,0.20)',
  bandEdge: '#a3adba',
  hatch: '#9aa4b3',
  amber: '#e5a823',
  amberInk: '#1f1600',
  amberText: '#f0bf55',
  blue: '#4d8fd6',
  violet: '#c79be8',
  red: '#e8694a',
  redText: '#ff8f73',
  green: '#2fb58a',
  greenText: '#41c79a',
  pod: '#2b313a',
  podEdge: '#4a5361',
  accent: '#8ab4ff',
  accentSoft: 'rgba(138,180,255,0.14)',
  onBar: '#10141a',
  selected: '#1a2436',
};

export type ThemeName = 'light' | 'dark';
export const coloursOf = (theme: ThemeName): Colours => (theme === 'dark' ? DARK : LIGHT);

/** A pattern each for guards: a colour of its own would not be seen by all. */
const GUARD_PATTERNS: Readonly<Record<string, PatternName>> = {
  ZoneOutage: 'plain',
  ClusterConcurrencyBudget: 'stripes',
  ZoneConcurrencyBudget: 'stripes',
  ConcurrencyBudget: 'stripes',
  UnhealthyThreshold: 'dots',
  ClusterFreeze: 'cross',
  RampUp: 'steps',
  Observe: 'outline',
};

export type PatternName =
  'plain' | 'hatch' | 'fine' | 'stripes' | 'dots' | 'cross' | 'steps' | 'zigzag' | 'outline' | 'back';

export function patternOf({ kind, guard }: Pick<Bar, 'kind' | 'guard'>): PatternName {
  switch (kind) {
    case 'tolerated':
      return 'hatch';
    case 'held':
      return GUARD_PATTERNS[guard ?? ''] ?? 'back';
    case 'drain':
    case 'action':
      return 'fine';
    case 'reboot':
      return 'zigzag';
    case 'replacement':
      return 'outline';
    case 'termination':
    case 'unhealthy':
    case 'protection':
      return 'plain';
  }
}

export function colourOf(kind: Bar['kind'], colours: Colours): string {
  switch (kind) {
    case 'tolerated':
      return colours.hatch;
    case 'held':
      return colours.amber;
    case 'drain':
    case 'action':
    case 'replacement':
      return colours.blue;
    case 'reboot':
      return colours.violet;
    case 'termination':
      return colours.red;
    case 'protection':
      return colours.green;
    case 'unhealthy':
      return colours.band;
  }
}

const made = new Map<string, CanvasPattern | string>();

/** How a bar is filled: a pattern that a canvas repeats, made once. */
export function fillOf(
  context: CanvasRenderingContext2D,
  pattern: PatternName,
  colour: string,
  paper: string,
): CanvasPattern | string {
  if (pattern === 'plain') return colour;
  const key = `${pattern} ${colour} ${paper}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const fill = draw(context, pattern, colour, paper) ?? colour;
  made.set(key, fill);
  return fill;
}

/** Patterns are drawn at twice their size, for screens with a finer grid. */
const SCALE = 2;

function draw(
  context: CanvasRenderingContext2D,
  pattern: PatternName,
  colour: string,
  paper: string,
): CanvasPattern | null {
  const size = pattern === 'zigzag' || pattern === 'steps' || pattern === 'hatch' ? 8 : 6;
  const tile = document.createElement('canvas');
  tile.width = size * SCALE;
  tile.height = size * SCALE;
  const ink = tile.getContext('2d');
  if (ink === null) return null;
  ink.scale(SCALE, SCALE);
  const isOnColour = ['fine', 'stripes', 'dots', 'cross', 'steps', 'back'].includes(pattern);
  ink.fillStyle = isOnColour ? colour : paper;
  ink.fillRect(0, 0, size, size);
  ink.strokeStyle = isOnColour ? 'rgba(0,0,0,0.34)' : colour;
  if (pattern === 'zigzag') {
    ink.fillStyle = colour;
    ink.globalAlpha = 0.45;
    ink.fillRect(0, 0, size, size);
    ink.globalAlpha = 1;
    ink.strokeStyle = 'rgba(60,10,90,0.75)';
  }
  ink.lineWidth = pattern === 'hatch' ? 2 : 1.1;
  ink.beginPath();
  for (const [x1, y1, x2, y2] of LINES[pattern] ?? []) {
    ink.moveTo(x1, y1);
    ink.lineTo(x2, y2);
  }
  ink.stroke();
  const repeated = context.createPattern(tile, 'repeat');
  repeated?.setTransform(new DOMMatrix().scale(1 / SCALE));
  return repeated;
}

type Line = readonly [number, number, number, number];
const LINES: Readonly<Partial<Record<PatternName, readonly Line[]>>> = {
  hatch: [
    [-2, 10, 10, -2],
    [-2, 2, 2, -2],
    [6, 10, 10, 6],
  ],
  fine: [
    [-1, 7, 7, -1],
    [-1, 1, 1, -1],
    [5, 7, 7, 5],
  ],
  back: [
    [-1, -1, 7, 7],
    [-1, 5, 1, 7],
    [5, -1, 7, 1],
  ],
  stripes: [[3, 0, 3, 6]],
  dots: [[2, 3, 3.4, 3]],
  cross: [
    [3, 0, 3, 6],
    [0, 3, 6, 3],
  ],
  steps: [
    [0, 6, 4, 6],
    [4, 6, 4, 2],
    [4, 2, 8, 2],
  ],
  zigzag: [
    [0, 5, 2, 1],
    [2, 1, 6, 7],
    [6, 7, 8, 5],
  ],
};
