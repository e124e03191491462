/** What the pointer is over: the reason with its numbers. */
import { shortClock, spanText } from '../src/day/text.ts';
import type { Bar, Lane } from '../src/day/types.ts';
import { guardName } from '../src/day/text.ts';
import { h } from './dom.ts';

export interface Tip {
  show(at: { readonly x: number; readonly y: number }, ...children: readonly (Node | string)[]): void;
  hide(): void;
  readonly element: HTMLElement;
}

export function createTip(): Tip {
  const element = h('div', { class: 'tip', role: 'tooltip', hidden: true });
  return {
    element,
    show({ x, y }, ...children) {
      element.replaceChildren(...children);
      element.hidden = false;
      const { width, height } = element.getBoundingClientRect();
      element.style.left = `${Math.min(x + 14, innerWidth - width - 8)}px`;
      element.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
    },
    hide() {
      element.hidden = true;
    },
  };
}

/** What a lane says at a point: the bar under it, what it waits for, else nothing. */
export function tipOf(lane: Lane, time: number, slack: number): readonly Node[] | undefined {
  const rank = (bar: Bar): number => ['protection', 'unhealthy', 'tolerated'].indexOf(bar.kind);
  const under = lane.bars
    .filter(({ from, to }) => from - slack <= time && time <= to + slack)
    .toSorted((a, b) => rank(a) - rank(b));
  const bar = under.find(each => rank(each) === -1) ?? under.at(-1);
  const wait = lane.waits.findLast(({ from, to }) => from - slack <= time && time <= to + slack);
  if (bar === undefined) return undefined;
  const words = {
    unhealthy: 'unhealthy',
    tolerated: 'tolerated',
    held: `held by ${guardName(bar.guard ?? '')}`,
    drain: 'is drained',
    action: bar.label,
    reboot: 'is rebooted',
    termination: 'is terminated',
    replacement: 'is launched',
    protection: 'is protected',
  }[bar.kind];
  const end = bar.isOpen ? 'the end' : shortClock(bar.to);
  return [
    h('span', { class: 'when' }, `${shortClock(bar.from)} to ${end}, ${spanText(bar.to - bar.from)}`),
    h('b', {}, `${lane.name} ${words}`),
    h('p', {}, bar.detail),
    ...(wait === undefined
      ? []
      : [
          h(
            'p',
            {},
            `waits, ${shortClock(wait.from)} to ${wait.isOpen ? 'the end' : shortClock(wait.to)}: ${wait.detail}`,
          ),
        ]),
  ];
}
