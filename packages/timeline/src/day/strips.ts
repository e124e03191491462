/** Unhealthy nodes of each pool against `maxUnhealthy`, and repairs in flight against their limit, over time. */
import type { LineOf, TraceLine } from '../trace/lines.ts';
import type { Lane, Series, Span, Strip } from './types.ts';

/** How many of the spans hold, over time. */
function countOf(spans: readonly Span[], start: number): Series {
  const changes = new Map<number, number>([[start, 0]]);
  for (const { from, to, isOpen } of spans) {
    changes.set(Math.max(from, start), (changes.get(Math.max(from, start)) ?? 0) + 1);
    if (!isOpen) changes.set(to, (changes.get(to) ?? 0) - 1);
  }
  const times = [...changes.keys()].toSorted((a, b) => a - b);
  let value = 0;
  const values = times.map(time => (value += changes.get(time) ?? 0));
  return { times, values };
}

/** The value at an instant; 0 before the first. */
export function valueAt({ times, values }: Series, time: number): number {
  let found = 0;
  for (const [index, each] of times.entries()) {
    if (each > time) break;
    found = values[index] ?? 0;
  }
  return found;
}

/** A limit as it is written, in nodes: a percentage is one of the nodes that there are, rounded up. */
export function limitIn(text: string, size: number): number | undefined {
  const number = Number.parseInt(text, 10);
  if (Number.isNaN(number)) return undefined;
  return text.trim().endsWith('%') ? Math.ceil((size * number) / 100) : number;
}

type Rules = LineOf<'rules'>;

export function stripsOf(
  lanes: readonly Lane[],
  lines: readonly TraceLine[],
  { start, end }: { readonly start: number; readonly end: number },
): readonly Strip[] {
  const rules = lines.filter(line => line.kind === 'rules');
  const sizes = Map.groupBy(lanes, ({ pool }) => pool);
  const pools = [...sizes]
    .filter(([pool]) => pool !== '')
    .toSorted(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .map(([pool]) => pool);
  const strips = pools.map(pool => {
    const own = lanes.filter(lane => lane.pool === pool);
    const ill = own.flatMap(({ bars }) => bars.filter(({ kind }) => kind === 'unhealthy'));
    const [size, found] = [sizeOf(own, start, end), rules.filter(each => each.pool === pool)];
    return stripOf({ title: pool, kind: 'unhealthy', count: countOf(ill, start), size }, found, [
      'maxUnhealthy',
      each => each.maxUnhealthy,
    ]);
  });
  const repairs = countOf(
    lanes.flatMap(each => each.repairs),
    start,
  );
  const all = { title: 'Repairs in flight', kind: 'repairs', count: repairs, size: sizeOf(lanes, start, end) } as const;
  return [
    ...strips,
    stripOf(all, rules, ['maxConcurrentRepairsPerCluster', each => each.maxConcurrentRepairsPerCluster]),
  ];
}

const sizeOf = (lanes: readonly Lane[], start: number, to: number): Series =>
  countOf(
    lanes.map(({ from, end }) => ({ from, to: end?.time ?? to, isOpen: end === undefined })),
    start,
  );

function stripOf(
  strip: Pick<Strip, 'title' | 'kind' | 'count' | 'size'>,
  rules: readonly Rules[],
  [name, read]: readonly [string, (rules: Rules) => string | undefined],
): Strip {
  const written = rules
    .map(each => ({ time: Date.parse(each.t), text: read(each) }))
    .filter(each => each.text !== undefined);
  const text = written.at(-1)?.text;
  if (text === undefined) return { ...strip, limit: { times: [], values: [] }, limitText: '' };
  const times = [...new Set([...strip.size.times, ...written.map(({ time }) => time)])].toSorted((a, b) => a - b);
  const points = times.flatMap(time => {
    const inForce = written.findLast(each => each.time <= time)?.text;
    const limit = inForce === undefined ? undefined : limitIn(inForce, valueAt(strip.size, time));
    return limit === undefined ? [] : [{ time, limit }];
  });
  const limit = { times: points.map(({ time }) => time), values: points.map(each => each.limit) };
  return { ...strip, limit, limitText: `${name} ${text}` };
}
