/** The table of decisions, Events and writes: only the rows in sight are in the document. */
import { clockText, shortClock } from '../src/day/text.ts';
import type { Day, Row } from '../src/day/types.ts';
import { h } from './dom.ts';
import type { RowKind, View } from './state.ts';

const ROW = 21;
const HEAD = ['Time', 'Node', 'Pool, zone', 'Function', 'Decision', 'Reason', 'Action, span', 'Message'];
const KINDS: readonly (readonly [RowKind, string])[] = [
  ['audit', 'decisions'],
  ['event', 'Events'],
  ['write', 'writes'],
];

export interface TableHost {
  readonly day: () => Day;
  readonly view: View;
  changed(): void;
  select(node: string | undefined, time: number): void;
}

export interface Table {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  /** Reads the rows anew, and shows those around the selected instant. */
  update(scrolls: boolean): void;
}

export function createTable(host: TableHost): Table {
  const { view } = host;
  const filter = h('input', {
    type: 'search',
    placeholder: 'node, pool, reason, text…',
    'aria-label': 'filter the table',
    oninput: () => {
      view.text = filter.value;
      host.changed();
    },
  });
  const functions = h('span', { class: 'seg', role: 'group', 'aria-label': 'function' });
  const kinds = h('span', { class: 'seg', role: 'group', 'aria-label': 'kind of line' });
  const count = h('span', { class: 'count', role: 'status' });
  const body = h('div', { class: 'body' });
  const grid = h('div', {
    class: 'grid',
    role: 'table',
    'aria-label': 'decisions',
    tabIndex: 0,
    onscroll: () => render(),
  });
  const head = h(
    'div',
    { class: 'tr head', role: 'row' },
    ...HEAD.map(title => h('span', { role: 'columnheader' }, title)),
  );
  grid.append(head, body);
  const element = h(
    'section',
    { class: 'table', 'aria-label': 'table of decisions' },
    h('div', { class: 'tools' }, h('h2', {}, 'Decisions'), filter, functions, kinds, count),
    grid,
  );

  let rows: readonly Row[] = [];
  let lanes = new Map<string, { readonly pool: string; readonly zone: string }>();

  const render = (): void => {
    const isPrint = matchMedia('print').matches;
    const first = isPrint ? 0 : Math.max(0, Math.floor(grid.scrollTop / ROW) - 4);
    const last = isPrint
      ? Math.min(rows.length, 400)
      : Math.min(rows.length, first + Math.ceil(grid.clientHeight / ROW) + 10);
    body.style.cssText = isPrint ? '' : `position:relative;height:${(rows.length + 1) * ROW}px`;
    const selected = selectedIndex();
    body.replaceChildren(
      ...rows.slice(first, last).map((row, index) => rowElement(row, first + index, selected)),
      ...hereElements(selected),
    );
  };
  const rowElement = (row: Row, index: number, selected: number): HTMLElement => {
    const isOn = index === selected;
    const hasHere = selected >= 0 && rows[selected]?.time !== view.time;
    const lane = lanes.get(row.lane ?? '');
    const place = lane === undefined ? '' : [lane.pool, shortZone(lane.zone)].filter(Boolean).join(' ');
    return h(
      'div',
      {
        class: isOn ? 'tr on' : 'tr',
        role: 'row',
        style: `top:${(index + (hasHere && index > selected ? 1 : 0)) * ROW}px`,
        title: row.message,
        'data-line': row.line,
        onclick: () => host.select(row.lane, row.time),
      },
      h('span', { role: 'cell' }, clockText(row.time)),
      h(
        'span',
        { class: 'node', role: 'cell' },
        h('i', { class: `sw ${swatchOf(row)}`, 'aria-hidden': 'true' }),
        row.lane ?? row.object,
      ),
      h('span', { class: 'soft', role: 'cell' }, place),
      h('span', { class: 'soft', role: 'cell' }, row.by),
      h('span', { role: 'cell' }, row.decision),
      h('span', { role: 'cell' }, row.reason),
      h('span', { class: 'soft', role: 'cell' }, row.action),
      h('span', { role: 'cell' }, row.message),
    );
  };
  /** Between two rows: the selected instant, at which nothing was decided. */
  const hereElements = (selected: number): readonly HTMLElement[] => {
    const row = rows[selected];
    if (row === undefined || view.time === undefined || row.time === view.time) return [];
    const next = rows.slice(selected + 1).find(({ lane }) => lane === row.lane);
    const words = `selected: ${row.decision} (${row.reason}) is in force for ${row.lane ?? row.object}, ${next === undefined ? 'nothing more is decided' : `nothing is decided until ${clockText(next.time)}`}`;
    return [
      h(
        'div',
        { class: 'tr here', style: `top:${(selected + 1) * ROW}px` },
        h('span', { class: 'chip' }, clockText(view.time)),
        words,
      ),
    ];
  };
  /** The row in force: the last one of the node at or before the instant. */
  const selectedIndex = (): number => {
    const { node, time } = view;
    return time === undefined
      ? -1
      : rows.findLastIndex(row => row.time <= time && (node === undefined || row.lane === node));
  };

  return {
    element,
    filter,
    update(scrolls) {
      const day = host.day();
      lanes = new Map(day.lanes.map(lane => [lane.name, lane]));
      const all =
        view.only.size === 0 ? day.rows : day.rows.filter(({ lane }) => lane !== undefined && view.only.has(lane));
      const ofKind = all.filter(({ kind }) => kind === view.kind);
      const named = ofKind.filter(row => view.by === '' || row.by === view.by);
      rows = named.filter(row => matches(row, view.text, lanes.get(row.lane ?? '')));
      if (filter.value !== view.text) filter.value = view.text;
      const byFunction = Map.groupBy(ofKind, ({ by }) => by);
      functions.replaceChildren(
        choice('all functions', undefined, view.by === '', () => void (view.by = '')),
        ...[...byFunction]
          .toSorted(([, a], [, b]) => b.length - a.length)
          .map(([by, found]) =>
            choice(by, found.length, view.by === by, () => void (view.by = view.by === by ? '' : by)),
          ),
      );
      kinds.replaceChildren(
        ...KINDS.map(([kind, title]) =>
          choice(title, all.filter(row => row.kind === kind).length, view.kind === kind, () => {
            view.kind = kind;
            view.by = '';
          }),
        ),
      );
      const inWindow = rows.filter(({ time }) => time >= view.from && time <= view.to).length;
      count.textContent = `${inWindow} of ${rows.length} in the time window`;
      const selected = selectedIndex();
      render();
      if (!scrolls || selected < 0) return;
      grid.scrollTop = Math.max(0, selected * ROW - Math.max(0, grid.clientHeight / 2 - 2 * ROW));
      render();
    },
  };

  function choice(title: string, number: number | undefined, isOn: boolean, choose: () => void): HTMLElement {
    return h(
      'button',
      {
        'aria-pressed': isOn,
        onclick: () => {
          choose();
          host.changed();
        },
      },
      title,
      number === undefined ? undefined : h('small', {}, String(number)),
    );
  }
}

function matches(
  row: Row,
  filter: string,
  lane: { readonly pool: string; readonly zone: string } | undefined,
): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text =
    `${row.lane ?? ''} ${lane?.pool ?? ''} ${lane?.zone ?? ''} ${row.by} ${row.decision} ${row.reason} ${row.action} ${row.message} ${shortClock(row.time)}`.toLowerCase();
  return words.every(word => text.includes(word));
}

const shortZone = (zone: string): string => /(\d+[a-z]+)$/.exec(zone)?.[1] ?? zone;

/** The mark of a decision: that of its bar. */
function swatchOf({ kind, by, decision, action }: Row): string {
  if (kind !== 'audit') return 'none';
  if (decision === 'tolerate') return 'tolerate';
  if (decision === 'repair' || decision === 'finishing')
    return action === 'Reboot' ? 'reboot' : action === 'Drain' ? 'drain' : 'end';
  if (by === 'grace-period') return 'protect';
  if (decision === 'close') return 'gone';
  if (['blocked', 'vetoed', 'wait', 'retry', 'refuse', 'refused', 'hold'].includes(decision)) return 'hold';
  if (by === 'drain') return 'drain';
  return ['terminate', 'force', 'forceDelete', 'release', 'terminateInstance'].includes(decision) ? 'end' : 'none';
}
