/** The page: puts its parts together, and draws again what changed. */
import { readDay } from '../src/day/day.ts';
import { readObjects, type ObjectHistories } from '../src/day/objects.ts';
import { runName } from '../src/day/compare.ts';
import { clockText } from '../src/day/text.ts';
import type { Day, Lane } from '../src/day/types.ts';
import type { PageData } from '../src/page-data.ts';
import type { TraceLine } from '../src/trace/lines.ts';
import { listenToControls } from './controls.ts';
import { besideOf, differencesElement } from './differences.ts';
import { byId, h } from './dom.ts';
import { forgetWidths } from './frame.ts';
import { drawHead } from './head.ts';
import { drawHeadNames } from './head-names.ts';
import { goToDialog, keysDialog } from './keys.ts';
import { layoutOf, type LaneRow, type Layout } from './layout.ts';
import { legend } from './legend.ts';
import { namesOf } from './names.ts';
import { showPanel } from './panel.ts';
import { createPictures } from './pictures.ts';
import { fragmentOf, viewOf, type View } from './state.ts';
import { createTable } from './table.ts';
import { coloursOf, type ThemeName } from './theme.ts';
import { timeIn } from './time-in.ts';
import { createTip } from './tip.ts';
import { centre, panWindow, setWindow, zoomWindow } from './window.ts';

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

export function startPage({ data, explain }: PageOptions): Page {
  let objects = readObjects(data.lines);
  let day = readDay(data.lines, objects);
  const beside = data.other === undefined ? undefined : besideOf(day, data.other, data.runs ?? ['A', 'B']);
  if (beside !== undefined) day = beside.day;
  const view = viewOf(location.hash, day);
  if (beside !== undefined && view.only.size === 0) view.only = new Set(beside.nodes);
  let layout = layoutOf(day, view);
  let isQueued = false;

  const pictures = createPictures();
  const tip = createTip();
  const panel = h('aside', { class: 'panel', 'aria-label': 'explain', hidden: true });
  const rowsElement = h('div', { class: 'spacer' });
  const lanesElement = h(
    'div',
    { class: 'lanes', tabIndex: 0, role: 'listbox', 'aria-label': 'lanes of nodes', onscroll: () => queue() },
    h('div', { class: 'sticky' }, h('div', { style: `margin-left:${NAMES_WIDTH}px` }, pictures.canvases.lanes)),
    rowsElement,
  );
  const nameElements = {
    headNames: h('div', { class: 'names' }),
    overviewNames: h('div', { class: 'names' }),
    axisNames: h('div', { class: 'names' }),
  };
  const { headNames, overviewNames, axisNames } = nameElements;
  const live = h('div', { class: 'sr', 'aria-live': 'polite' });
  const mainElement = h('main', { class: 'closed' });

  const theme = (): ThemeName =>
    matchMedia('print').matches
      ? 'light'
      : (view.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));

  const draw = (): void => {
    isQueued = false;
    const isPrint = matchMedia('print').matches;
    const height = isPrint ? Math.min(layout.height, 14_000) : lanesElement.clientHeight;
    const top = isPrint ? 0 : lanesElement.scrollTop;
    const size = { width: lanesElement.clientWidth - NAMES_WIDTH, height, top };
    pictures.draw({ day, layout, view, colours: coloursOf(theme()), size });
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
  /** What changes with the view: everything but the pictures.canvases. */
  const changed = (scrollsTable = true): void => {
    history.replaceState(null, '', fragmentOf(view, day) || location.pathname + location.search);
    document.documentElement.dataset['theme'] = theme();
    layout = layoutOf(day, view);
    pictures.forget();
    rowsElement.style.height = `${layout.height}px`;
    drawHead({ top: byId('top'), verdict: byId('verdict'), badges: byId('badges') }, host);
    drawHeadNames(nameElements, day, view);
    table.update(scrollsTable);
    legend(byId('legend'), day, coloursOf(theme()));
    queue();
  };
  const laneOf = (name: string | undefined): Lane | undefined => day.lanes.findLast(each => each.name === name);
  const select = (node: string | undefined, time: number, isInTable = false): void => {
    view.node = node ?? view.node;
    view.time = Math.round(Math.min(day.end, Math.max(day.start, time)) / 1000) * 1000;
    if (view.time < view.from || view.time > view.to) centre(view, day, view.time);
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
    // No further than it must, so that the reader keeps their place.
    const lowest = row.y + row.height - clientHeight;
    if (clientHeight > 0) lanesElement.scrollTop = Math.min(row.y, Math.max(scrollTop, lowest));
  };
  /** While the window moves, the address and the table wait. */
  let settling: number | undefined;
  const windowChanged = (): void => {
    drawHeadNames(nameElements, day, view);
    queue();
    clearTimeout(settling);
    settling = window.setTimeout(() => {
      history.replaceState(null, '', fragmentOf(view, day) || location.pathname + location.search);
      table.update(false);
    }, 150);
  };
  const pan = (share: number): void => {
    panWindow(view, day, share);
    windowChanged();
  };
  const zoom = (factor: number, at?: number): void => {
    zoomWindow(view, day, factor, at);
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
      h(
        'div',
        { class: 'band', id: 'overview' },
        overviewNames,
        h('div', { class: 'plot' }, pictures.canvases.overview),
      ),
      h('div', { class: 'band', id: 'axis' }, axisNames, h('div', { class: 'plot' }, pictures.canvases.axis)),
      h('div', { class: 'band', id: 'strips' }, headNames, h('div', { class: 'plot' }, pictures.canvases.head)),
      lanesElement,
      h('div', { class: 'legend', id: 'legend' }),
      table.element,
    ),
    panel,
  );

  const shows = (from: number, to: number): void => {
    setWindow(view, day, from, to);
    windowChanged();
  };
  listenToControls({
    page: () => ({ day, view, layout }),
    pictures,
    lanesElement,
    tip,
    select,
    toggleGroup,
    toggleLane,
    zoom,
    pan,
    shows,
    close,
    goTo: goTo.open,
    filter: () => table.filter.focus(),
    showKeys: () => keys.showModal(),
  });
  new ResizeObserver(() => {
    pictures.forget();
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
      return pictures.drawn;
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
