/** The column beside the lanes: names, what a node is doing at the selected instant, zones. Only rows in sight are in the document. */
import type { Lane } from '../src/day/types.ts';
import { h } from './dom.ts';
import { stateAt, type LaneRow, type Layout } from './layout.ts';
import type { View } from './state.ts';

interface NamesHost {
  readonly layout: Layout;
  readonly view: Pick<View, 'node'>;
  readonly top: number;
  readonly height: number;
  readonly time: number;
  readonly select: (lane: Lane, row: LaneRow) => void;
  readonly toggleGroup: (title: string) => void;
}

export function namesOf(host: NamesHost): readonly HTMLElement[] {
  const { layout, top, height } = host;
  const inSight = ({ y, height: own }: { readonly y: number; readonly height: number }): boolean =>
    y + own > top - 60 && y < top + height + 60;
  const zones = layout.zones
    .filter(inSight)
    .map(({ text, y, height: own }) =>
      h(
        'div',
        { class: 'zone', style: `top:${y}px;height:${Math.max(8, own)}px`, 'aria-hidden': 'true' },
        h('span', {}, text),
      ),
    );
  return [...layout.rows.filter(inSight).map(row => nameOf(row, host)), ...zones];
}

function nameOf(row: LaneRow, { view, time, select, toggleGroup }: NamesHost): HTMLElement {
  const style = `top:${row.y}px;height:${row.height}px`;
  switch (row.kind) {
    case 'group':
      return h(
        'button',
        { class: 'row group', style, 'aria-expanded': !row.isClosed, onclick: () => toggleGroup(row.title) },
        row.isClosed ? '▸' : '▾',
        ' ',
        row.title,
        h('span', { class: 'sum' }, row.summary),
        h('span', { class: 'ended' }, row.ended),
      );
    case 'lane': {
      const { lane } = row;
      const state = stateAt(lane, time);
      const isOn = lane.name === view.node;
      return h(
        'button',
        {
          class: isOn ? 'row lane on' : 'row lane',
          style,
          role: 'option',
          'aria-selected': isOn,
          'data-node': lane.name,
          title: lane.name,
          onclick: () => select(lane, row),
        },
        h('span', { class: 'twist' }, row.isOpen ? '▼' : '▶'),
        h('span', { class: 'nm' }, lane.name),
        state && h('span', { class: `now tone-${state.tone}` }, state.text),
      );
    }
    case 'hook':
      return h('div', { class: 'row sub', style, title: row.hook.name }, row.hook.name);
    case 'pod':
      return h(
        'div',
        { class: 'row sub', style, title: `${row.pod.namespace}/${row.pod.name}` },
        `${row.pod.namespace}/${row.pod.name}`,
      );
    case 'fold': {
      const [first] = row.lanes;
      return h(
        'button',
        {
          class: 'row fold',
          style,
          title: row.lanes.map(({ name }) => name).join(', '),
          onclick: () => (first === undefined ? undefined : select(first, row)),
        },
        row.title,
      );
    }
  }
}
