/** Two runs side by side: what differs, in numbers and by node. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { endText } from './sparkline.ts';
import { guardName, unitOf } from './text.ts';
import type { Bar, Day, Lane, Phrase } from './types.ts';

/** A number or outcome that is not the same in both runs. */
export interface Difference {
  readonly title: string;
  readonly a: string;
  readonly b: string;
  /** Nodes that it counts in one run and not in the other. */
  readonly nodes: readonly string[];
}

export interface Comparison {
  /** What the runs are called: what differs in their settings, where that is one value. */
  readonly names: readonly [string, string];
  /** `30m → 10m: 4 more terminated by repair, 2 more protected pods taken`. */
  readonly sentence: string;
  readonly differences: readonly Difference[];
  /** Nodes to which something else happened. */
  readonly nodes: readonly string[];
}

interface Counted {
  /** After `4 more` or `1 fewer`. */
  readonly words: string;
  readonly nodes: (lane: Lane) => number;
}

const COUNTS: readonly Counted[] = [
  { words: 'terminated by repair', nodes: ({ end }) => Number(end?.by === 'repair') },
  { words: 'terminated on request', nodes: ({ end }) => Number(end?.by === 'request') },
  { words: 'gone by others', nodes: ({ end }) => Number(end?.by === 'others') },
  { words: 'rebooted', nodes: ({ reboots }) => reboots.length },
  { words: 'drained', nodes: drainsWith('succeeded') },
  { words: 'drains called off', nodes: drainsWith('cancelled') },
  { words: 'drains without end', nodes: drainsWith('running') },
  { words: 'protected pods taken', nodes: ({ takenPods }) => takenPods.length },
  {
    words: 'hooks that did not succeed',
    nodes: ({ hooks }) => hooks.filter(({ result }) => result === 'timed out' || result === 'failed').length,
  },
];

function drainsWith(outcome: Lane['drains'][number]['outcome']): (lane: Lane) => number {
  return ({ drains }) => drains.filter(each => each.outcome === outcome).length;
}

/** @param files names of the runs, where their settings do not name them */
export function compareDays(a: Day, b: Day, files: readonly [string, string]): Comparison {
  const counts = [...COUNTS, ...guardsOf([a, b])].flatMap(counted => {
    const [inA, inB] = [a, b].map(day => new Map(day.lanes.map(lane => [lane.name, counted.nodes(lane)])));
    const [before, after] = [inA, inB].map(each => [...(each ?? []).values()].reduce((sum, count) => sum + count, 0));
    const names = [...new Set([...(inA?.keys() ?? []), ...(inB?.keys() ?? [])])].filter(
      name => (inA?.get(name) ?? 0) !== (inB?.get(name) ?? 0),
    );
    return before === undefined || after === undefined || names.length === 0 ? [] : [{ counted, before, after, names }];
  });
  const [fates, otherFates] = [fatesOf(a), fatesOf(b)];
  const nodes = [...new Set([...fates.keys(), ...otherFates.keys()])].filter(
    name => fates.get(name) !== otherFates.get(name),
  );
  const names = settingsOf(a.lines, b.lines) ?? files;
  const deltas = counts
    .filter(({ before, after }) => before !== after)
    .map(({ counted, before, after }) => {
      const by = Math.abs(after - before);
      return `${by} ${after > before ? 'more' : 'fewer'} ${counted.words}`;
    });
  const rest =
    nodes.length === 0 ? 'nothing differs' : `the same numbers, ${unitOf(nodes.length, 'node')} with another day`;
  return {
    names,
    sentence: `${names[0]} → ${names[1]}: ${deltas.length === 0 ? rest : deltas.join(', ')}`,
    differences: [
      ...counts.map(({ counted, before, after, names: differing }) => ({
        title: counted.words,
        a: String(before),
        b: String(after),
        nodes: differing,
      })),
      ...nodes.map(name => ({
        title: name,
        a: fates.get(name) ?? 'not there',
        b: otherFates.get(name) ?? 'not there',
        nodes: [name],
      })),
    ],
    nodes,
  };
}

/** Nodes held by each guard that held any. */
function guardsOf(days: readonly Day[]): readonly Counted[] {
  const guards = new Set(
    days.flatMap(({ lanes }) =>
      lanes.flatMap(({ bars }) => bars.flatMap(({ guard }) => (guard === undefined ? [] : [guard]))),
    ),
  );
  return [...guards].map(guard => ({
    words: `held by ${guardName(guard)}`,
    nodes: ({ bars }) => Number(bars.some(bar => bar.guard === guard)),
  }));
}

/** What became of each node: how it ended, and when each thing happened. */
const fatesOf = ({ lanes }: Day): ReadonlyMap<string, string> => new Map(lanes.map(lane => [lane.name, fateOf(lane)]));

function fateOf(lane: Lane): string {
  const clock = (time: number): string => new Date(time).toISOString().slice(11, 19);
  const shown = (bar: Bar): boolean =>
    bar.kind !== 'unhealthy' && bar.kind !== 'tolerated' && bar.kind !== 'protection';
  const acts = lane.bars
    .filter(shown)
    .map(
      bar =>
        `${bar.kind === 'held' ? `held (${bar.label})` : bar.label} ${clock(bar.from)} to ${bar.isOpen ? 'the end' : clock(bar.to)}`,
    );
  const end = endText(lane);
  return [...acts, ...(end === '' || lane.end === undefined ? [] : [end])].join(', ') || 'nothing was done';
}

/** The values of the one line of the settings that differs; undefined: several do, or none. */
function settingsOf(a: readonly TraceLine[], b: readonly TraceLine[]): readonly [string, string] | undefined {
  const texts = (lines: readonly TraceLine[]): ReadonlyMap<string, string> =>
    new Map(
      lines
        .filter((line): line is LineOf<'policy'> => line.kind === 'policy')
        .map(line => [`${line.objectKind} ${line.name}`, line.text]),
    );
  const [inA, inB] = [texts(a), texts(b)];
  const changed = [...inA].flatMap(([key, text]) => {
    const other = inB.get(key);
    if (other === undefined || other === text) return [];
    const [old, next] = [text.split('\n'), other.split('\n')];
    if (old.length !== next.length) return [undefined];
    return old.flatMap((line, index) => (line === next[index] ? [] : [[line, next[index] ?? ''] as const]));
  });
  const [only] = changed;
  if (changed.length !== 1 || only === undefined || inA.size !== inB.size) return undefined;
  const valueOf = (line: string): string => line.split(': ').slice(1).join(': ').trim();
  const [x, y] = [valueOf(only[0]), valueOf(only[1])];
  return x === '' || y === '' ? undefined : [x, y];
}

/** Both days as one: each node has two lanes, one of each run. The second run's lines follow the first one's. */
export function besideEachOther(a: Day, b: Day, { names, sentence, nodes }: Comparison): Day {
  const offset = a.lines.length;
  const lanes = [...a.lanes.map(lane => asRun(lane, 'A', 0)), ...b.lanes.map(lane => asRun(lane, 'B', offset))];
  const [head = '', ...rest] = sentence.split(/(?<=: )/);
  const verdict: Phrase[] = [
    { text: `A ${names[0]} → B ${names[1]}: `, isHead: true },
    ...rest
      .join('')
      .split(/(\d+)/)
      .map(text =>
        /^\d+$/.test(text)
          ? { text, isNumber: true, nodes: nodes.flatMap(name => [runName(name, 'A'), runName(name, 'B')]) }
          : { text },
      ),
  ];
  return {
    ...a,
    header: { ...a.header, name: head.replace(/: $/, '') },
    end: Math.max(a.end, b.end),
    lines: [...a.lines, ...b.lines],
    lanes,
    rows: [
      ...a.rows.map(row => ({ ...row, ...(row.lane !== undefined && { lane: runName(row.lane, 'A') }) })),
      ...b.rows.map(row => ({
        ...row,
        line: row.line + offset,
        ...(row.lane !== undefined && { lane: runName(row.lane, 'B') }),
      })),
    ].toSorted((x, y) => x.time - y.time),
    strips: [],
    verdict,
    badges: [],
  };
}

export const runName = (name: string, run: 'A' | 'B'): string => `${name} ${run}`;

function asRun(lane: Lane, run: 'A' | 'B', offset: number): Lane {
  const moved = <Value extends { readonly line: number }>(each: Value): Value => ({
    ...each,
    line: each.line < 0 ? each.line : each.line + offset,
  });
  return {
    ...lane,
    name: runName(lane.name, run),
    bars: lane.bars.map(moved),
    waits: lane.waits.map(moved),
    marks: lane.marks.map(moved),
    pods: lane.pods.map(moved),
    hooks: lane.hooks.map(moved),
    drains: lane.drains.map(moved),
    decisions: lane.decisions.map(index => index + offset),
  };
}
