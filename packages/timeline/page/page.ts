/** The page: puts its parts together, and draws again what changed. */
import { readDay } from '../src/day/day.ts';
import { readObjects, type ObjectHistories } from '../src/day/objects.ts';
import { besideEachOther, compareDays, runName, type Comparison } from '../src/day/compare.ts';
import { valueAt } from '../src/day/strips.ts';
import { clockText, dayText, spanText, unitOf } from '../src/day/text.ts';
import type { Day, Lane } from '../src/day/types.ts';
import type { TraceLine } from '../src/trace/lines.ts';
import { byId, h } from './dom.ts';
import {
  AXIS_HEIGHT,
  drawAxis,
  drawHappenings,
  drawOverview,
  drawOverviewLanes,
  drawStrip,
  HAPPENINGS_HEIGHT,
  OVERVIEW,
  STRIP_HEIGHT,
  type PlacedHappening,
} from './draw-head.ts';
import { drawInstant, drawLanes } from './draw-lanes.ts';
import { forgetWidths, frameOf } from './frame.ts';
import { drawHead } from './head.ts';
import { goToDialog, keysDialog, listenToKeys } from './keys.ts';
import { layoutOf, type LaneRow, type Layout } from './layout.ts';
import { legend } from './legend.ts';
import { namesOf } from './names.ts';
import { showPanel } from './panel.ts';
import { listenToPointer } from './pointer.ts';
import { fragmentOf, viewOf, type View } from './state.ts';
import { createTable } from './table.ts';
import { coloursOf, type ThemeName } from './theme.ts';
import { createTip, tipOf } from './tip.ts';
import type { PageData } from '../src/page-data.ts';

/** What `explain node NAME` says of the cluster as it was. */
export type ExplainPast = (objects: ObjectHistories, node: string, time: number) => Promise<string | undefined>;

export interface PageOptions {
  readonly data: PageData;
  /** undefined: the text of the panel is what the log says. */
  readonly explain: ExplainPast | undefined;
}

/** What a page can be asked from outside: by a server that goes on sending, and by tests. */
export interface Page {
  readonly day: Day;
  readonly view: View;
  readonly layout: Layout;
  /** Marks that the last drawing had. */
  readonly drawn: number;
  setLines(lines: readonly TraceLine[]): void;
  redraw(): void;
}

const NAMES_WIDTH = 158;
/** Nearer than this cannot be zoomed. */
const LEAST_WINDOW = 10_000;

export function startPage({ data, explain }: PageOptions): Page {
  let objects = readObjects(data.lines);
  let day = readDay(data.lines, objects);
  const beside = data.other === undefined ? undefined : besideOf(day, data.other, data.runs ?? ['A', 'B']);
  if (beside !== undefined) day = beside.day;
  const view = viewOf(location.hash, day);
  if (beside !== undefined && view.only.size === 0) view.only = new Set(beside.nodes);
  let layout = layoutOf(day, view);
  let happenings: readonly PlacedHappening[] = [];
  let overviewLanes: HTMLCanvasElement | undefined;
  let drawn = 0;
  let isQueued = false;

  const canvases = {
    overview: h('canvas'),
    axis: h('canvas'),
    head: h('canvas'),
    lanes: h('canvas', { 'aria-hidden': 'true' }),
  };
  const tip = createTip();
  const panel = h('aside', { class: 'panel', 'aria-label': 'explain', hidden: true });
  const rowsElement = h('div', { class: 'spacer' });
  const lanesElement = h(
    'div',
    { class: 'lanes', tabIndex: 0, role: 'listbox', 'aria-label': 'lanes of nodes', onscroll: () => queue() },
    h('div', { class: 'sticky' }, h('div', { style: `margin-left:${NAMES_WIDTH}px` }, canvases.lanes)),
    rowsElement,
  );
  const headNames = h('div', { class: 'names' });
  const overviewNames = h('div', { class: 'names' });
  const axisNames = h('div', { class: 'names' });
  const live = h('div', { class: 'sr', 'aria-live': 'polite' });
  const mainElement = h('main', { class: 'closed' });

  const plotWidth = (): number => lanesElement.clientWidth - NAMES_WIDTH;
  const theme = (): ThemeName =>
    matchMedia('print').matches
      ? 'light'
      : (view.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));

  const draw = (): void => {
    isQueued = false;
    const colours = coloursOf(theme());
    const width = plotWidth();
    if (width < 40) return;
    const whole = { from: day.start, to: day.end };
    overviewLanes ??= offscreenLanes(width);
    const overview = frameOf(canvases.overview, { width, height: OVERVIEW.height }, whole, colours);
    if (overview !== undefined) drawOverview(overview, overviewLanes, { day, window: view });
    const axis = frameOf(canvases.axis, { width, height: AXIS_HEIGHT }, view, colours);
    if (axis !== undefined) drawAxis(axis, { window: view, time: view.time });
    const head = frameOf(
      canvases.head,
      { width, height: HAPPENINGS_HEIGHT + day.strips.slice(0, STRIPS).length * STRIP_HEIGHT + 4 },
      view,
      colours,
    );
    if (head !== undefined) {
      happenings = drawHappenings(head, day.happenings);
      for (const [index, strip] of day.strips.slice(0, STRIPS).entries())
        drawStrip(head, strip, HAPPENINGS_HEIGHT + index * STRIP_HEIGHT, view);
      drawInstant(head, view.time);
    }
    const isPrint = matchMedia('print').matches;
    const height = isPrint ? Math.min(layout.height, 14_000) : lanesElement.clientHeight;
    const lanes = frameOf(canvases.lanes, { width, height }, view, colours);
    const top = isPrint ? 0 : lanesElement.scrollTop;
    if (lanes !== undefined) drawn = drawLanes(lanes, { day, layout, view, top });
    rowsElement.replaceChildren(
      ...namesOf({
        layout,
        view,
        top,
        height,
        time: view.time ?? view.to,
        select: (lane, row) => selectRow(lane, row),
        toggleGroup,
      }),
    );
  };
  const queue = (): void => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(draw);
  };
  const offscreenLanes = (width: number): HTMLCanvasElement => {
    const canvas = document.createElement('canvas');
    const frame = frameOf(
      canvas,
      { width, height: OVERVIEW.lanes },
      { from: day.start, to: day.end },
      coloursOf(theme()),
    );
    const ordered = layout.rows.flatMap(row =>
      row.kind === 'lane' ? [row.lane] : row.kind === 'fold' ? row.lanes : [],
    );
    if (frame !== undefined) drawOverviewLanes(frame, ordered);
    return canvas;
  };

  /** What changes with the view: everything but the canvases. */
  const changed = (scrollsTable = true): void => {
    history.replaceState(null, '', fragmentOf(view, day) || location.pathname + location.search);
    document.documentElement.dataset['theme'] = theme();
    layout = layoutOf(day, view);
    overviewLanes = undefined;
    rowsElement.style.height = `${layout.height}px`;
    drawHead({ top: byId('top'), verdict: byId('verdict'), badges: byId('badges') }, host);
    drawHeadNames();
    table.update(scrollsTable);
    legend(byId('legend'), day, coloursOf(theme()));
    queue();
  };
  const drawHeadNames = (): void => {
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
  };

  const laneOf = (name: string | undefined): Lane | undefined => day.lanes.findLast(each => each.name === name);
  const select = (node: string | undefined, time: number, isInTable = false): void => {
    view.node = node ?? view.node;
    view.time = Math.round(Math.min(day.end, Math.max(day.start, time)) / 1000) * 1000;
    if (view.time < view.from || view.time > view.to) centre(view.time);
    changed(!isInTable);
    showSelected();
  };
  const showSelected = (): void => {
    const lane = laneOf(view.node);
    const isShown = lane !== undefined && view.time !== undefined;
    panel.hidden = !isShown;
    mainElement.classList.toggle('closed', !isShown);
    if (isShown && view.time !== undefined) {
      live.textContent = `${lane.name} at ${clockText(view.time)}`;
      scrollTo(lane.name);
      void showPanel(panel, panelHost, lane, view.time);
    }
    queue();
  };
  const scrollTo = (name: string): void => {
    const row = layout.rows.find(
      each =>
        (each.kind === 'lane' && each.lane.name === name) ||
        (each.kind === 'fold' && each.lanes.some(lane => lane.name === name)),
    );
    if (row === undefined) return;
    const { scrollTop, clientHeight } = lanesElement;
    if (row.y < scrollTop || row.y + row.height > scrollTop + clientHeight)
      lanesElement.scrollTop = Math.max(0, row.y - clientHeight / 2);
  };
  const centre = (time: number): void => {
    const half = (view.to - view.from) / 2;
    setWindow(time - half, time + half);
  };
  const setWindow = (from: number, to: number): void => {
    const span = Math.min(day.end - day.start, Math.max(LEAST_WINDOW, to - from));
    const middle = (from + to) / 2;
    view.from = Math.max(day.start, Math.min(day.end - span, middle - span / 2));
    view.to = view.from + span;
  };
  const zoom = (
    factor: number,
    at = view.time !== undefined && view.time >= view.from && view.time <= view.to
      ? view.time
      : (view.from + view.to) / 2,
  ): void => {
    const span = Math.min(day.end - day.start, Math.max(LEAST_WINDOW, (view.to - view.from) * factor));
    const share = (at - view.from) / (view.to - view.from);
    const from = at - span * share;
    view.from = Math.max(day.start, Math.min(day.end - span, from));
    view.to = view.from + span;
    windowChanged();
  };
  /** While the window moves, the address and the table wait. */
  let settling: number | undefined;
  const windowChanged = (): void => {
    drawHeadNames();
    queue();
    clearTimeout(settling);
    settling = window.setTimeout(() => {
      history.replaceState(null, '', fragmentOf(view, day) || location.pathname + location.search);
      table.update(false);
    }, 150);
  };
  const pan = (share: number): void => {
    const by = (view.to - view.from) * share;
    setWindow(view.from + by, view.to + by);
    windowChanged();
  };
  const toggleGroup = (title: string): void => {
    if (!view.closed.delete(title)) view.closed.add(title);
    changed();
  };
  const toggleLane = (name: string): void => {
    if (!view.open.delete(name)) view.open.add(name);
    changed();
  };
  const selectRow = (lane: Lane, row: LaneRow): void => {
    if (row.kind === 'fold') for (const each of row.lanes) view.open.add(each.name);
    else if (row.kind === 'lane' && view.node === lane.name) return toggleLane(lane.name);
    select(lane.name, view.time ?? lane.bars.at(0)?.from ?? view.from);
  };
  const close = (): void => {
    view.node = undefined;
    view.time = undefined;
    changed();
    showSelected();
  };

  const keys = keysDialog();
  const goTo = goToDialog(
    () => day.lanes.map(({ name }) => name),
    words => {
      const parts = words.split(/\s+/);
      const node = parts.find(each => laneOf(each) !== undefined);
      const time = parts.map(each => timeIn(each, view.time ?? view.from, day)).find(each => each !== undefined);
      if (node === undefined && time === undefined) return false;
      select(node, time ?? view.time ?? laneOf(node)?.bars.at(0)?.from ?? view.from);
      return true;
    },
  );
  const host = {
    day: () => day,
    view,
    theme,
    changed: () => changed(),
    showKeys: () => keys.showModal(),
    goTo: goTo.open,
    select,
    notices: data.notices,
  };
  const panelHost = {
    day: () => day,
    explain:
      explain === undefined || objects.size === 0
        ? undefined
        : (node: string, time: number) =>
            beside === undefined
              ? explain(objects, node, time)
              : explain(node.endsWith(' B') ? beside.objects : objects, node.slice(0, -2), time),
    close,
    select,
  };
  const table = createTable({
    day: () => day,
    view,
    changed: () => changed(),
    select: (node, time) => select(node, time, true),
  });

  document.body.replaceChildren(
    h('header', { class: 'top', id: 'top' }),
    h('h1', { class: 'verdict', id: 'verdict' }),
    h('div', { class: 'badges', id: 'badges', role: 'group', 'aria-label': 'surprises' }),
    ...data.notices.map(notice => h('div', { class: 'notice', role: 'note' }, notice)),
    ...(beside === undefined
      ? []
      : [differencesElement(beside.comparison, node => select(runName(node, 'A'), view.time ?? view.from))]),
    mainElement,
    live,
    tip.element,
    keys,
    goTo.dialog,
  );
  mainElement.append(
    h(
      'div',
      { class: 'left' },
      h('div', { class: 'band', id: 'overview' }, overviewNames, h('div', { class: 'plot' }, canvases.overview)),
      h('div', { class: 'band', id: 'axis' }, axisNames, h('div', { class: 'plot' }, canvases.axis)),
      h('div', { class: 'band', id: 'strips' }, headNames, h('div', { class: 'plot' }, canvases.head)),
      lanesElement,
      h('div', { class: 'legend', id: 'legend' }),
      table.element,
    ),
    panel,
  );

  listenToKeys({
    step: by => {
      const lane = laneOf(view.node) ?? layout.order[0];
      if (lane === undefined) return;
      const times = [...new Set(lane.decisions.map(index => Date.parse(day.lines[index]?.t ?? '')))];
      const time =
        by === 1
          ? times.find(each => each > (view.time ?? -Infinity))
          : times.findLast(each => each < (view.time ?? Infinity));
      if (time !== undefined) select(lane.name, time);
    },
    lane: by => {
      const index = layout.order.findIndex(({ name }) => name === view.node);
      const lane = layout.order[index === -1 ? (by === 1 ? 0 : layout.order.length - 1) : index + by];
      if (lane !== undefined) select(lane.name, view.time ?? lane.bars.at(0)?.from ?? view.from);
    },
    zoom: factor => zoom(factor),
    pan,
    whole: () => {
      setWindow(day.start, day.end);
      windowChanged();
    },
    open: () => (view.node === undefined ? undefined : toggleLane(view.node)),
    goTo: goTo.open,
    filter: () => table.filter.focus(),
    close,
    showKeys: () => keys.showModal(),
  });
  listenToPointer(
    { ...canvases, element: lanesElement },
    {
      timeAt: share => view.from + share * (view.to - view.from),
      wholeTimeAt: share => day.start + share * (day.end - day.start),
      window: () => view,
      zoom,
      setWindow: (from, to) => {
        setWindow(from, to);
        windowChanged();
      },
      rowAt: y => layout.rows.find(row => y >= row.y && y < row.y + row.height),
      select: (row, time) => {
        if (row.kind === 'group') return toggleGroup(row.title);
        const lane = row.kind === 'fold' ? row.lanes[0] : row.lane;
        if (lane !== undefined) select(lane.name, time);
      },
      tip: (row, time, point, slack) => {
        const lane = row?.kind === 'lane' || row?.kind === 'pod' || row?.kind === 'hook' ? row.lane : undefined;
        const words = lane && tipOf(lane, time, slack);
        if (words === undefined) tip.hide();
        else tip.show(point, ...words);
      },
      headTip: (x, point) => {
        const found = happenings.find(({ left, right }) => x >= left && x <= right)?.happening;
        if (found === undefined) tip.hide();
        else
          tip.show(
            point,
            h('span', { class: 'when' }, clockText(found.time)),
            h('b', {}, found.title),
            h('p', {}, found.detail.slice(0, 400)),
          );
      },
    },
  );
  new ResizeObserver(() => {
    overviewLanes = undefined;
    queue();
  }).observe(lanesElement);
  for (const query of ['(prefers-color-scheme: dark)', 'print'])
    matchMedia(query).addEventListener('change', () => changed());
  addEventListener('beforeprint', () => {
    lanesElement.style.height = `${layout.height + 4}px`;
    changed();
    draw();
  });
  addEventListener('afterprint', () => {
    lanesElement.style.height = '';
    changed();
  });
  addEventListener('hashchange', () => {
    Object.assign(view, viewOf(location.hash, day));
    changed();
    showSelected();
  });
  void document.fonts.ready.then(() => {
    forgetWidths();
    queue();
  });
  changed();
  showSelected();
  draw();

  return {
    get day() {
      return day;
    },
    view,
    get layout() {
      return layout;
    },
    get drawn() {
      return drawn;
    },
    setLines(lines) {
      const isAtEnd = view.to === day.end && view.from === day.start;
      objects = readObjects(lines);
      day = readDay(lines, objects);
      if (isAtEnd) Object.assign(view, { from: day.start, to: day.end });
      changed(false);
    },
    redraw: draw,
  };
}

/** More pools than these are found by their lanes. */
const STRIPS = 6;
const DAY_MS = 86_400_000;

/** The second run beside the first: which nodes had another day. */
function besideOf(a: Day, lines: readonly TraceLine[], runs: readonly [string, string]) {
  const objects = readObjects(lines);
  const b = readDay(lines, objects);
  const comparison = compareDays(a, b, runs);
  const nodes = comparison.nodes.flatMap(name => [runName(name, 'A'), runName(name, 'B')]);
  return { objects, comparison, nodes, day: besideEachOther(a, b, comparison) };
}

function differencesElement({ differences, names }: Comparison, select: (node: string) => void): HTMLElement {
  return h(
    'div',
    { class: 'diff', id: 'differences' },
    h('b', {}, 'What differs'),
    h('b', {}, `A ${names[0]}`),
    h('b', {}, `B ${names[1]}`),
    ...differences.flatMap(({ title, a, b, nodes: [node] }) => [
      h('button', { class: 'soft', onclick: () => (node === undefined ? undefined : select(node)) }, title),
      h('span', {}, a),
      h('span', {}, b),
    ]),
  );
}

/** `18:32`, `18:32:05`, or an RFC 3339 instant: the first such time at or after the start of the shown day. */
function timeIn(text: string, near: number, { start, end }: Pick<Day, 'start' | 'end'>): number | undefined {
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (clock === null) {
    const time = /^\d{4}-/.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(time) ? undefined : time;
  }
  const [, hour = '', minute = '', second = '0'] = clock;
  const inDay = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  const midnight = Math.floor(near / DAY_MS) * DAY_MS;
  return [midnight + inDay, midnight + inDay + DAY_MS, midnight + inDay - DAY_MS].find(
    time => time >= start && time <= end,
  );
}
