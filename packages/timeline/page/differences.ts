/** Two runs on one page: the second beside the first, and what differs between them. */
import { besideEachOther, compareDays, runName, type Comparison } from '../src/day/compare.ts';
import { readDay } from '../src/day/day.ts';
import { readObjects, type ObjectHistories } from '../src/day/objects.ts';
import type { Day } from '../src/day/types.ts';
import type { TraceLine } from '../src/trace/lines.ts';
import { h } from './dom.ts';

export interface Beside {
  /** Of the second run. */
  readonly objects: ObjectHistories;
  readonly comparison: Comparison;
  /** Lanes of the nodes that had another day. */
  readonly nodes: readonly string[];
  readonly day: Day;
}

/** The second run beside the first: which nodes had another day. */
export function besideOf(a: Day, lines: readonly TraceLine[], runs: readonly [string, string]): Beside {
  const objects = readObjects(lines);
  const b = readDay(lines, objects);
  const comparison = compareDays(a, b, runs);
  const nodes = comparison.nodes.flatMap(name => [runName(name, 'A'), runName(name, 'B')]);
  return { objects, comparison, nodes, day: besideEachOther(a, b, comparison) };
}

export function differencesElement({ differences, names }: Comparison, select: (node: string) => void): HTMLElement {
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
