/** What is looked at: it stands in the fragment of the address, so that a view can be sent. */
import type { Day } from '../src/day/types.ts';
import type { ThemeName } from './theme.ts';

export type Grouping = 'pool' | 'zone' | 'outcome';
export type RowKind = 'audit' | 'event' | 'write';

export interface View {
  /** The window, in milliseconds since 1970. */
  from: number;
  to: number;
  grouping: Grouping;
  /** The selected node and instant. */
  node: string | undefined;
  time: number | undefined;
  /** Lanes that are opened into hooks and pods. */
  open: Set<string>;
  /** Groups that are closed. */
  closed: Set<string>;
  /** Nodes that the page is narrowed down to. */
  only: Set<string>;
  by: string;
  kind: RowKind;
  text: string;
  theme: ThemeName | undefined;
}

const GROUPINGS: readonly Grouping[] = ['pool', 'zone', 'outcome'];
const KINDS: readonly RowKind[] = ['audit', 'event', 'write'];

export function viewOf(fragment: string, day: Pick<Day, 'start' | 'end'>): View {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const timeIn = (key: string): number | undefined => {
    const time = Date.parse(given.get(key) ?? '');
    return Number.isNaN(time) ? undefined : time;
  };
  const setIn = (key: string): Set<string> => new Set((given.get(key) ?? '').split(',').filter(Boolean));
  const [from, to] = [timeIn('from') ?? day.start, timeIn('to') ?? day.end];
  const theme = given.get('theme');
  return {
    from: Math.min(from, day.end),
    to: to > from ? to : day.end,
    grouping: GROUPINGS.find(each => each === given.get('lanes')) ?? 'pool',
    node: given.get('node') ?? undefined,
    time: timeIn('at'),
    open: setIn('open'),
    closed: setIn('closed'),
    only: setIn('only'),
    by: given.get('function') ?? '',
    kind: KINDS.find(each => each === given.get('kind')) ?? 'audit',
    text: given.get('filter') ?? '',
    theme: theme === 'dark' || theme === 'light' ? theme : undefined,
  };
}

/** Only what differs from what the page shows by itself. */
export function fragmentOf(view: View, day: Pick<Day, 'start' | 'end'>): string {
  const said = new URLSearchParams();
  const iso = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');
  if (view.node !== undefined) said.set('node', view.node);
  if (view.time !== undefined) said.set('at', iso(view.time));
  if (view.from !== day.start || view.to !== day.end) {
    said.set('from', iso(Math.round(view.from / 1000) * 1000));
    said.set('to', iso(Math.round(view.to / 1000) * 1000));
  }
  if (view.grouping !== 'pool') said.set('lanes', view.grouping);
  for (const key of ['open', 'closed', 'only'] as const)
    if (view[key].size > 0) said.set(key, [...view[key]].join(','));
  if (view.by !== '') said.set('function', view.by);
  if (view.kind !== 'audit') said.set('kind', view.kind);
  if (view.text !== '') said.set('filter', view.text);
  if (view.theme !== undefined) said.set('theme', view.theme);
  return said.size === 0 ? '' : `#${said.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')}`;
}
