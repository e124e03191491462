/** What keys and pointer do to the page. */
import { clockText } from '../src/day/text.ts';
import type { Day, Lane } from '../src/day/types.ts';
import { h } from './dom.ts';
import { listenToKeys } from './keys.ts';
import type { Layout } from './layout.ts';
import type { Pictures } from './pictures.ts';
import { listenToPointer } from './pointer.ts';
import type { View } from './state.ts';
import { tipOf, type Tip } from './tip.ts';

export interface ControlHost {
  /** As it is now. */
  readonly page: () => { readonly day: Day; readonly view: View; readonly layout: Layout };
  readonly pictures: Pictures;
  readonly lanesElement: HTMLElement;
  readonly tip: Tip;
  select(node: string, time: number): void;
  toggleGroup(title: string): void;
  toggleLane(name: string): void;
  zoom(factor: number, at?: number): void;
  pan(share: number): void;
  /** This part of the day. */
  shows(from: number, to: number): void;
  close(): void;
  goTo(): void;
  filter(): void;
  showKeys(): void;
}

export function listenToControls(host: ControlHost): void {
  const { page } = host;
  listenToKeys({
    step(by) {
      const { day, view, layout } = page();
      const lane = laneOf(day, view.node) ?? layout.order[0];
      if (lane === undefined) return;
      const times = [...new Set(lane.decisions.map(index => Date.parse(day.lines[index]?.t ?? '')))];
      const time =
        by === 1
          ? times.find(each => each > (view.time ?? -Infinity))
          : times.findLast(each => each < (view.time ?? Infinity));
      if (time !== undefined) host.select(lane.name, time);
    },
    lane(by) {
      const { view, layout } = page();
      const index = layout.order.findIndex(({ name }) => name === view.node);
      const lane = layout.order[index === -1 ? (by === 1 ? 0 : layout.order.length - 1) : index + by];
      if (lane !== undefined) host.select(lane.name, view.time ?? lane.bars.at(0)?.from ?? view.from);
    },
    zoom: factor => host.zoom(factor),
    pan: share => host.pan(share),
    whole: () => host.shows(page().day.start, page().day.end),
    open() {
      const { node } = page().view;
      if (node !== undefined) host.toggleLane(node);
    },
    goTo: () => host.goTo(),
    filter: () => host.filter(),
    close: () => host.close(),
    showKeys: () => host.showKeys(),
  });
  listenToPointer({ ...host.pictures.canvases, element: host.lanesElement }, pointerOf(host));
}

function pointerOf({ page, pictures, tip, ...host }: ControlHost): Parameters<typeof listenToPointer>[1] {
  return {
    timeAt(share) {
      const { from, to } = page().view;
      return from + share * (to - from);
    },
    wholeTimeAt(share) {
      const { start, end } = page().day;
      return start + share * (end - start);
    },
    window: () => page().view,
    zoom: (factor, at) => host.zoom(factor, at),
    setWindow: (from, to) => host.shows(from, to),
    rowAt: y => page().layout.rows.find(row => y >= row.y && y < row.y + row.height),
    select(row, time) {
      if (row.kind === 'group') return host.toggleGroup(row.title);
      const lane = row.kind === 'fold' ? row.lanes[0] : row.lane;
      if (lane !== undefined) host.select(lane.name, time);
    },
    tip(row, time, point, slack) {
      const lane = row?.kind === 'lane' || row?.kind === 'pod' || row?.kind === 'hook' ? row.lane : undefined;
      const words = lane && tipOf(lane, time, slack);
      if (words === undefined) tip.hide();
      else tip.show(point, ...words);
    },
    headTip(x, point) {
      const found = pictures.happenings.find(({ left, right }) => x >= left && x <= right)?.happening;
      if (found === undefined) return tip.hide();
      const { time, title, detail } = found;
      tip.show(
        point,
        h('span', { class: 'when' }, clockText(time)),
        h('b', {}, title),
        h('p', {}, detail.slice(0, 400)),
      );
    },
  };
}

const laneOf = (day: Day, name: string | undefined): Lane | undefined => day.lanes.findLast(each => each.name === name);
