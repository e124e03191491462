/** The names beside the overview, the axis and the strips, with the values at the selected instant. */
import { valueAt } from '../src/day/strips.ts';
import { dayText, spanText, unitOf } from '../src/day/text.ts';
import type { Day } from '../src/day/types.ts';
import { h } from './dom.ts';
import { HAPPENINGS_HEIGHT } from './draw-happenings.ts';
import { STRIP_HEIGHT } from './draw-strip.ts';
import type { View } from './state.ts';

const DAY_MS = 86_400_000;

/** More pools than these are found by their lanes. */
export const STRIPS = 6;

export interface NameElements {
  readonly overviewNames: HTMLElement;
  readonly axisNames: HTMLElement;
  readonly headNames: HTMLElement;
}

export function drawHeadNames({ overviewNames, axisNames, headNames }: NameElements, day: Day, view: View): void {
  overviewNames.replaceChildren(
    h('span', { class: 'big', style: 'top:20px' }, day.end - day.start === DAY_MS ? 'Whole day' : 'All of it'),
    h(
      'span',
      { class: 'small', style: 'top:38px' },
      `${spanText(day.end - day.start)}, ${unitOf(day.lanes.length, 'node')}`,
    ),
  );
  axisNames.replaceChildren(
    h(
      'span',
      { class: 'small', style: 'top:4px' },
      `${dayText(view.from)} ${new Date(view.from).getUTCFullYear()}, UTC`,
    ),
  );
  const time = view.time ?? view.to;
  const strips = day.strips.slice(0, STRIPS);
  headNames.replaceChildren(
    h('span', { class: 'big', style: 'top:3px' }, 'What happened'),
    ...strips.flatMap((strip, index) => {
      const top = `top:${HAPPENINGS_HEIGHT + index * STRIP_HEIGHT + 3}px`;
      const value = valueAt(strip.count, time);
      const of =
        strip.kind === 'unhealthy'
          ? valueAt(strip.size, time)
          : strip.limit.values.length === 0
            ? undefined
            : valueAt(strip.limit, time);
      const words = of === undefined ? String(value) : `${value} of ${of}`;
      return [
        h(
          'span',
          {
            class: strip.kind === 'repairs' ? 'big' : 'small',
            style: top,
            title: strip.kind === 'unhealthy' ? `unhealthy nodes of ${strip.title}` : strip.title,
          },
          strip.title,
        ),
        h('span', { class: value === 0 ? 'val soft' : 'val', style: top }, words),
      ];
    }),
  );
}
