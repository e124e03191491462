/** What the world did, above what Curfew made of it: the scenario's steps, those of one instant in one line where they are one thing. */
import { unitOf } from './text.ts';
import type { LineOf, TraceLine } from '../trace/lines.ts';
import { at, conditionsOf, textAt } from './objects.ts';
import type { Happening, Lane } from './types.ts';
import type { Whereabouts } from './who.ts';

interface Found {
  readonly time: number;
  readonly index: number;
  readonly line: LineOf<'step'>;
  readonly node: string | undefined;
  readonly title: string;
  /** Steps of one key at one instant are one thing. */
  readonly key: string;
}

/** Comes and goes at least so often within an hour: it flaps. */
const FLAPS = 3;
const HOUR = 3_600_000;

export function happeningsOf(
  lines: readonly TraceLine[],
  where: Whereabouts,
  lanes: readonly Lane[],
): readonly Happening[] {
  const found: Found[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'step') continue;
    const node = where.lifeOf(line)?.name;
    const title = titleOf(line, node);
    found.push({ time: Date.parse(line.t), index, line, node, title, key: keyOf(line, node) });
  }
  const groups = Map.groupBy(found, ({ time, key }) => `${time} ${key}`);
  const happenings = [...groups.values()].map(group => happeningOf(group, lanes));
  return withoutFlapping(onePerNode(happenings), found);
}

function happeningOf(group: readonly Found[], lanes: readonly Lane[]): Happening {
  const [first] = group;
  if (first === undefined) throw new TypeError('a group has a member');
  const nodes = [...new Set(group.flatMap(({ node }) => (node === undefined ? [] : [node])))];
  const zone = zoneOf(nodes, lanes);
  const title =
    nodes.length < 2
      ? first.title
      : first.key === 'back'
        ? `${zone ?? unitOf(nodes.length, 'node')} is back`
        : zone === undefined
          ? `${unitOf(nodes.length, 'node')}: ${first.key}`
          : `${zone} is lost`;
  return { time: first.time, title, detail: group.map(({ line }) => line.text).join('\n'), nodes, line: first.index };
}

/** The zone, when these are all its nodes and at least three. */
function zoneOf(nodes: readonly string[], lanes: readonly Lane[]): string | undefined {
  const zone = lanes.find(({ name }) => name === nodes[0])?.zone;
  if (zone === undefined || zone === '' || nodes.length < 3) return undefined;
  const inZone = lanes.filter(lane => lane.zone === zone).map(({ name }) => name);
  return inZone.every(name => nodes.includes(name)) && inZone.length === nodes.length
    ? `zone ${zone.replace(/^.*-(?=\d)/, '')}`
    : undefined;
}

function keyOf({ about, action }: LineOf<'step'>, node: string | undefined): string {
  const condition = node === undefined ? undefined : conditionOfStep(about);
  if (condition === undefined)
    return `${action} ${node ?? textAt(about, 'name') ?? ''} ${textAt(about, 'name') ?? ''} ${JSON.stringify(about ?? {})}`;
  return condition.endsWith('=True') && condition.startsWith('Ready') ? 'back' : condition;
}

function titleOf({ about, action, text }: LineOf<'step'>, node: string | undefined): string {
  const condition = conditionOfStep(about);
  const name = node ?? textAt(about, 'name') ?? '';
  if (node !== undefined && textAt(about, 'change', 'metadata', 'annotations', 'sim.curfew.dev/kubelet') === 'dead')
    return `${node} dies`;
  if (condition !== undefined && node !== undefined) {
    return condition === 'Ready=True' ? `${node} is back` : `${node} ${condition}`;
  }
  switch (action) {
    case 'delete':
      return `${name} deleted`;
    case 'busEvent':
      return `${textAt(about, 'detailType') ?? 'event'} ${node ?? ''}`.trim();
    case 'hook':
      return `hook ${name} ${textAt(about, 'result') ?? ''}`;
    case 'outage':
      return `outage of ${textAt(about, 'outage') ?? ''}`;
    case 'apply':
      return `${textAt(about, 'kind') ?? 'object'} ${name} changes`;
    default:
      return node === undefined ? text.slice(0, 60) : `${node}: ${action}`;
  }
}

/** `Ready=Unknown`, of a step that sets a condition. */
function conditionOfStep(about: unknown): string | undefined {
  const change = at(about, 'change');
  const [condition] = conditionsOf(typeof change === 'object' && change !== null ? { ...change } : undefined);
  return condition && `${condition.type}=${condition.status}`;
}

/** A node whose condition comes and goes is one thing that happens, at its first time. */
function withoutFlapping(happenings: readonly Happening[], found: readonly Found[]): readonly Happening[] {
  const single = found.filter(({ node, line }) => node !== undefined && conditionOfStep(line.about) !== undefined);
  const times = Map.groupBy(single, ({ node }) => node);
  const flapping = new Map(
    [...times].flatMap(([node, steps]) => {
      const ill = steps.filter(({ key }) => key !== 'back');
      const flaps = ill.some(({ time }, index) => (ill[index + FLAPS - 1]?.time ?? Infinity) - time <= HOUR);
      return flaps && node !== undefined ? [[node, ill[0]?.time] as const] : [];
    }),
  );
  return happenings.flatMap(each => {
    const [node] = each.nodes;
    if (node === undefined || each.nodes.length > 1 || !flapping.has(node)) return [each];
    const count = (times.get(node) ?? []).filter(({ key }) => key !== 'back').length;
    return each.time === flapping.get(node)
      ? [{ ...each, title: `${node} flaps`, detail: `${count} times\n${each.detail}` }]
      : [];
  });
}

/** Several steps about one node at one instant are one thing: what says most leads. */
function onePerNode(happenings: readonly Happening[]): readonly Happening[] {
  const groups = Map.groupBy(happenings, each =>
    each.nodes.length === 1 ? `${each.time} ${each.nodes[0] ?? ''}` : each,
  );
  return [...groups.values()].map(group => {
    const lead =
      group.find(({ title }) => title.endsWith(' dies')) ??
      group.find(({ title }) => !title.endsWith(': patch')) ??
      group[0];
    if (lead === undefined) throw new TypeError('a group has a member');
    return { ...lead, detail: group.map(({ detail }) => detail).join('\n') };
  });
}
