/** The part of the day that is shown: what may be zoomed and panned to. */
import type { Day } from '../src/day/types.ts';
import type { View } from './state.ts';

/** Nearer than this cannot be zoomed. */
const LEAST_WINDOW = 10_000;

type Whole = Pick<Day, 'start' | 'end'>;

/** Shows about this part, within the day. */
export function setWindow(view: View, { start, end }: Whole, from: number, to: number): void {
  const span = Math.min(end - start, Math.max(LEAST_WINDOW, to - from));
  const middle = (from + to) / 2;
  view.from = Math.max(start, Math.min(end - span, middle - span / 2));
  view.to = view.from + span;
}

/** Shows as much as before, around an instant. */
export function centre(view: View, day: Whole, time: number): void {
  const half = (view.to - view.from) / 2;
  setWindow(view, day, time - half, time + half);
}

/** The instant `at` stays where it is; default: the selected one, else the middle. */
export function zoomWindow(view: View, { start, end }: Whole, factor: number, at = anchorOf(view)): void {
  const span = Math.min(end - start, Math.max(LEAST_WINDOW, (view.to - view.from) * factor));
  const share = (at - view.from) / (view.to - view.from);
  view.from = Math.max(start, Math.min(end - span, at - span * share));
  view.to = view.from + span;
}

export function panWindow(view: View, day: Whole, share: number): void {
  const by = (view.to - view.from) * share;
  setWindow(view, day, view.from + by, view.to + by);
}

function anchorOf({ time, from, to }: View): number {
  return time !== undefined && time >= from && time <= to ? time : (from + to) / 2;
}
