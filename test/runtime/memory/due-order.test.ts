import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDueOrder, type DueEntry } from '../../../runtime/memory/due-order.ts';

const entry = fc.record({ time: fc.integer({ min: 0, max: 40 }), key: fc.constantFrom('a', 'b', 'c', 'd') });
const change = fc.record({ kind: fc.constantFrom('add', 'add', 'remove'), entry });

const byPosition = (a: DueEntry, b: DueEntry): number =>
  a.time - b.time || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const textOf = ({ time, key }: DueEntry): string => `${time} ${key}`;

describe('createDueOrder', () => {
  it('holds what a sorted list of the same entries would hold, whatever is added and removed', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), fc.option(entry), (changes, after) => {
        const order = createDueOrder<DueEntry>();
        const expected = new Map<string, DueEntry>();
        for (const { kind, entry: changed } of changes) {
          if (kind === 'add') {
            order.add(changed);
            expected.set(textOf(changed), changed);
          } else {
            order.remove(changed);
            expected.delete(textOf(changed));
          }
        }
        const sorted = [...expected.values()].toSorted(byPosition);
        expect([...order.after(undefined)]).toEqual(sorted);
        if (after !== null) {
          expect([...order.after(after)]).toEqual(sorted.filter(other => byPosition(other, after) > 0));
        }
      }),
    );
  });

  it('keeps its order over many pieces, in whatever order entries come', () => {
    const order = createDueOrder<DueEntry>();
    const entries = Array.from({ length: 5000 }, (_unused, index) => ({ time: (index * 7919) % 5000, key: 'k' }));
    for (const each of entries) order.add(each);
    for (const each of entries) if (each.time % 3 === 0) order.remove(each);
    const times = [...order.after({ time: 2000, key: 'k' })].map(({ time }) => time);
    expect(times).toEqual(
      Array.from({ length: 2999 }, (_unused, index) => 2001 + index).filter(time => time % 3 !== 0),
    );
  });
});
