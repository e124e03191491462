/** The top of the page: title, controls, verdict, badges. */
import { dayText, shortClock } from '../src/day/text.ts';
import type { Badge, Day, Phrase } from '../src/day/types.ts';
import { h } from './dom.ts';
import type { Grouping, View } from './state.ts';
import type { ThemeName } from './theme.ts';

export interface HeadHost {
  readonly day: () => Day;
  readonly view: View;
  readonly theme: () => ThemeName;
  readonly changed: () => void;
  readonly showKeys: () => void;
  readonly goTo: () => void;
  readonly select: (node: string, time: number) => void;
  /** What is wrong with what was read, for all to see. */
  readonly notices: readonly string[];
}

const GROUPINGS: readonly (readonly [Grouping, string])[] = [
  ['pool', 'pool, zone'],
  ['zone', 'zone, pool'],
  ['outcome', 'outcome'],
];

const SOURCES = { simulation: 'simulation', audit: 'audit log', live: 'live' } as const;

export function drawHead(
  elements: { readonly top: HTMLElement; readonly verdict: HTMLElement; readonly badges: HTMLElement },
  host: HeadHost,
): void {
  const { view } = host;
  const day = host.day();
  const { header, start, end } = day;
  const span = `from ${dayText(start)} ${new Date(start).getUTCFullYear()} ${shortClock(start)} to ${dayText(end)} ${shortClock(end)} UTC`;
  elements.top.replaceChildren(
    h('span', { class: 'brand' }, moon(), 'Curfew'),
    h(
      'span',
      { class: 'crumb' },
      h('span', { class: header.source === 'live' ? 'live' : '' }, SOURCES[header.source]),
      ' / ',
      h('b', {}, header.name),
      ` ${span}`,
    ),
    h(
      'span',
      { class: 'right' },
      'Lanes by',
      segment('lanes by', GROUPINGS, view.grouping, grouping => {
        view.grouping = grouping;
        host.changed();
      }),
      h('button', { class: 'btn', onclick: () => host.goTo() }, 'Go to node or time ', h('kbd', {}, '/')),
      segment(
        'theme',
        [
          ['light', 'Light'],
          ['dark', 'Dark'],
        ] as const,
        host.theme(),
        theme => {
          view.theme = theme;
          host.changed();
        },
      ),
      h('button', { class: 'btn', onclick: () => host.showKeys() }, 'Keys ', h('kbd', {}, '?')),
    ),
  );
  elements.verdict.replaceChildren(...day.verdict.map(phrase => phraseElement(phrase, host)));
  elements.badges.replaceChildren(
    ...day.badges.map(badge => badgeElement(badge, host)),
    ...(view.only.size > 0 ? [narrowed(host)] : []),
  );
}

function segment<Value extends string>(
  title: string,
  choices: readonly (readonly [Value, string])[],
  value: Value,
  choose: (value: Value) => void,
): HTMLElement {
  return h(
    'span',
    { class: 'seg', role: 'group', 'aria-label': title },
    ...choices.map(([each, words]) =>
      h('button', { 'aria-pressed': each === value, onclick: () => choose(each) }, words),
    ),
  );
}

function phraseElement(
  { text, isNumber, isHead, nodes = [] }: Phrase,
  { view, changed }: HeadHost,
): HTMLElement | string {
  if (isNumber !== true) return isHead === true ? h('span', { class: 'h' }, text) : text;
  const isOn = view.only.size === nodes.length && nodes.length > 0 && nodes.every(node => view.only.has(node));
  return h(
    'button',
    {
      class: 'n',
      'aria-pressed': isOn,
      title: nodes.join(', '),
      onclick: () => {
        view.only = new Set(isOn ? [] : nodes);
        changed();
      },
    },
    text,
  );
}

function narrowed({ view, changed }: HeadHost): HTMLElement {
  const clear = (): void => {
    view.only.clear();
    changed();
  };
  return h(
    'button',
    { class: 'badge', onclick: clear },
    `narrowed to ${view.only.size} node${view.only.size === 1 ? '' : 's'}: show all ×`,
  );
}

function badgeElement({ severity, title, detail, nodes, time }: Badge, { select }: HeadHost): HTMLElement {
  const [node] = nodes;
  return h(
    'button',
    {
      class: severity === 'red' ? 'badge red' : 'badge',
      onclick: () => (node === undefined ? undefined : select(node, time)),
    },
    warning(severity),
    h('b', {}, title),
    detail,
  );
}

function icon(paths: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.innerHTML = paths;
  return svg;
}

/** A triangle wants a person, a circle wants a look. */
const warning = (severity: Badge['severity']): SVGElement =>
  icon(
    severity === 'red'
      ? '<path d="M8 1.5 15 14H1z" fill="currentColor"/><path d="M8 6v4M8 11.4v1.2" stroke="#fff" stroke-width="1.5"/>'
      : '<circle cx="8" cy="8" r="6.4" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M8 4.5v4.6M8 10.6v1.2" stroke="currentColor" stroke-width="1.6"/>',
  );

function moon(): SVGElement {
  const svg = icon(
    '<path d="M10.5 1.5a6.5 6.5 0 1 0 4 9.2A5.6 5.6 0 0 1 10.5 1.5z" fill="currentColor"/><circle cx="13" cy="4" r="1.1" fill="currentColor"/>',
  );
  svg.setAttribute('width', '17');
  svg.setAttribute('height', '17');
  return svg;
}
