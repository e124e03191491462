/** Rows of the lanes: groups, lanes, what is in an opened lane, and folded ones. Placed once for each change of the view. */
import { sentenceOf, type Sentence } from '../src/day/sentences.ts';
import { unitOf } from '../src/day/text.ts';
import type { Day, HookRow, Lane, PodRow } from '../src/day/types.ts';
import type { View } from './state.ts';

interface Placed {
  readonly y: number;
  readonly height: number;
}

export type LaneRow =
  | ({
      readonly kind: 'group';
      readonly title: string;
      readonly summary: string;
      readonly ended: string;
      readonly isClosed: boolean;
    } & Placed)
  | ({
      readonly kind: 'lane';
      readonly lane: Lane;
      readonly sentence: Sentence | undefined;
      readonly isOpen: boolean;
    } & Placed)
  | ({ readonly kind: 'hook'; readonly lane: Lane; readonly hook: HookRow } & Placed)
  | ({ readonly kind: 'pod'; readonly lane: Lane; readonly pod: PodRow } & Placed)
  | ({
      readonly kind: 'fold';
      readonly lanes: readonly Lane[];
      readonly title: string;
      readonly text: string;
      readonly key: string;
    } & Placed);

export interface ZoneBracket extends Placed {
  readonly text: string;
}

export interface Layout {
  readonly rows: readonly LaneRow[];
  readonly zones: readonly ZoneBracket[];
  readonly height: number;
  /** Lanes in the order in which they stand. */
  readonly order: readonly Lane[];
}

export const HEIGHTS = { group: 23, lane: 28, hook: 15, pod: 15, fold: 17 } as const;
/** In a lane that is opened, so many pods are shown. */
const PODS = 12;

export function layoutOf(day: Day, view: Pick<View, 'grouping' | 'open' | 'closed' | 'only'>): Layout {
  const rows: LaneRow[] = [];
  const zones: ZoneBracket[] = [];
  const order: Lane[] = [];
  let y = 0;
  const place = <Row extends object>(row: Row, height: number): Row & Placed => {
    const placed = { ...row, y, height };
    y += height;
    return placed;
  };
  const shown = view.only.size === 0 ? day.lanes : day.lanes.filter(({ name }) => view.only.has(name));
  for (const [title, lanes] of groupsOf(shown, view.grouping)) {
    const isClosed = view.closed.has(title);
    rows.push(
      place(
        { kind: 'group' as const, title, summary: summaryOf(title, lanes, day, view), ended: endedOf(lanes), isClosed },
        HEIGHTS.group,
      ),
    );
    if (isClosed) continue;
    const { alone, folds } = folded(sorted(lanes, view.grouping), view);
    for (const [zone, members] of Map.groupBy(alone, lane => (view.grouping === 'zone' ? lane.pool : lane.zone))) {
      const top = y;
      for (const lane of members) {
        order.push(lane);
        const isOpen = view.open.has(lane.name);
        rows.push(place({ kind: 'lane' as const, lane, sentence: sentenceOf(lane, day), isOpen }, HEIGHTS.lane));
        if (!isOpen) continue;
        for (const hook of lane.hooks) rows.push(place({ kind: 'hook' as const, lane, hook }, HEIGHTS.hook));
        for (const pod of lane.pods.slice(0, PODS)) rows.push(place({ kind: 'pod' as const, lane, pod }, HEIGHTS.pod));
      }
      if (view.grouping === 'pool' && zone !== '')
        zones.push({ text: shortZone(zone), y: top + 4, height: y - top - 8 });
    }
    for (const fold of folds) rows.push(place({ kind: 'fold' as const, ...fold }, HEIGHTS.fold));
  }
  return { rows, zones, height: y, order };
}

function groupsOf(lanes: readonly Lane[], grouping: View['grouping']): readonly (readonly [string, readonly Lane[]])[] {
  const key =
    grouping === 'pool' ? (lane: Lane) => lane.pool : grouping === 'zone' ? (lane: Lane) => lane.zone : outcomeOf;
  const groups = [...Map.groupBy(lanes, key)].map(
    ([title, members]) => [title === '' ? '(no pool)' : title, members] as const,
  );
  return groups.toSorted(([a, x], [b, z]) =>
    grouping === 'outcome' ? OUTCOMES.indexOf(a) - OUTCOMES.indexOf(b) : z.length - x.length || a.localeCompare(b),
  );
}

const OUTCOMES = ['terminated', 'drain goes on', 'held', 'acted upon', 'unhealthy', 'quiet'];

function outcomeOf({ end, drains, bars, reboots }: Lane): string {
  if (end !== undefined) return 'terminated';
  if (drains.some(({ isOpen }) => isOpen)) return 'drain goes on';
  if (bars.some(({ kind }) => kind === 'held')) return 'held';
  if (drains.length > 0 || reboots.length > 0) return 'acted upon';
  return bars.some(({ kind }) => kind === 'unhealthy') ? 'unhealthy' : 'quiet';
}

/** By zone, then by when something happened first. */
function sorted(lanes: readonly Lane[], grouping: View['grouping']): readonly Lane[] {
  const first = ({ bars, end }: Lane): number =>
    Math.min(...bars.filter(({ kind }) => kind !== 'protection').map(({ from }) => from), end?.time ?? Infinity);
  const part = (lane: Lane): string => (grouping === 'zone' ? lane.pool : lane.zone);
  return lanes.toSorted((a, b) => part(a).localeCompare(part(b)) || first(a) - first(b) || byName(a, b));
}

const byName = (a: Lane, b: Lane): number => a.name.localeCompare(b.name, 'en', { numeric: true });

interface Fold {
  readonly lanes: readonly Lane[];
  readonly title: string;
  readonly text: string;
  readonly key: string;
}

/** Lanes that are quiet, or alike, share a row. */
function folded(
  lanes: readonly Lane[],
  view: Pick<View, 'open' | 'only'>,
): { readonly alone: readonly Lane[]; readonly folds: readonly Fold[] } {
  const kinds = Map.groupBy(lanes, lane => (view.only.size > 0 || view.open.has(lane.name) ? '' : likeness(lane)));
  const alone: Lane[] = [];
  const folds: Fold[] = [];
  for (const [key, members] of kinds) {
    if (key === '' || members.length < (key === QUIET ? 1 : 2)) alone.push(...members);
    else folds.push(foldOf(key, members.toSorted(byName)));
  }
  return { alone: lanes.filter(lane => alone.includes(lane)), folds };
}

const QUIET = 'quiet';
/** Fewer lanes that are alike are worth a row each. */
const ALIKE = 6;

/** Lanes of one likeness had the same day; `''`: this one stands for itself. */
function likeness({ bars, end, pods, drains }: Lane): string {
  if (end !== undefined || drains.length > 0 || pods.some(({ isTaken }) => isTaken)) return '';
  if (bars.length === 0) return QUIET;
  return bars.every(({ kind }) => kind === 'protection')
    ? bars.map(({ kind, from, to }) => `${kind} ${from} ${to}`).join(';')
    : '';
}

function foldOf(key: string, lanes: readonly Lane[]): Fold {
  const names = lanes.map(({ name }) => name);
  const listed = names.length > ALIKE ? `${names.slice(0, 3).join(', ')} … ${names.at(-1) ?? ''}` : names.join(', ');
  if (key === QUIET) {
    const title = names.length > 2 ? `${names.length} quiet` : names.join(', ');
    return {
      key,
      lanes,
      title,
      text: `nothing happened: ${names.length > 2 ? listed : `${unitOf(names.length, 'node')} folded`}`,
    };
  }
  return { key, lanes, title: `${names.length} alike`, text: `${listed}: protected, then released` };
}

function summaryOf(title: string, lanes: readonly Lane[], day: Day, { grouping }: Pick<View, 'grouping'>): string {
  const count = unitOf(lanes.length, 'node');
  if (grouping !== 'pool') return count;
  const rules = day.lines.findLast(line => line.kind === 'rules' && line.pool === title);
  if (rules?.kind !== 'rules') return count;
  if (rules.source === undefined) return `${count}, no repair block: nothing is repaired`;
  const name = rules.source.replace(/^NodeLifecyclePolicy /, 'policy ');
  const actions = typeof rules['summary'] === 'string' ? `: ${rules['summary']}` : '';
  return `${count}, ${name} in ${rules.mode}${rules.gateOpen ? '' : ', repair is off'}${actions}`;
}

function endedOf(lanes: readonly Lane[]): string {
  const ended = lanes
    .filter(({ end }) => end !== undefined)
    .toSorted((a, b) => (a.end?.time ?? 0) - (b.end?.time ?? 0));
  if (ended.length === 0) return '';
  return `${ended.length} ended: ${ended.length > 4 ? '…' : ended.map(({ name }) => name).join(', ')}`;
}

/** `us-west-2a` as `2a`. */
const shortZone = (zone: string): string => /(\d+[a-z]+)$/.exec(zone)?.[1] ?? zone.slice(-3);

/** What a node is doing at an instant, in a word. */
export function stateAt(
  lane: Lane,
  time: number,
): { readonly text: string; readonly tone: Sentence['tone'] } | undefined {
  if (lane.end !== undefined && time >= lane.end.time) return { text: 'gone', tone: 'plain' };
  const inForce = lane.bars.filter(({ from, to, isOpen }) => from <= time && (time < to || isOpen));
  const find = (kind: string): boolean => inForce.some(bar => bar.kind === kind);
  if (find('termination')) return { text: 'terminating', tone: 'red' };
  if (find('reboot')) return { text: 'reboot', tone: 'violet' };
  if (find('drain') || find('action')) return { text: 'drain', tone: 'blue' };
  const held = inForce.find(({ kind }) => kind === 'held');
  if (held !== undefined) return { text: held.guard === 'Observe' ? 'observed' : 'held', tone: 'amber' };
  if (find('tolerated')) return { text: 'tolerated', tone: 'plain' };
  if (find('unhealthy')) return { text: 'unhealthy', tone: 'plain' };
  return find('protection') ? { text: 'protected', tone: 'green' } : undefined;
}
