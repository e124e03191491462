import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListItems } from '../../../../shared/adapters/kubernetes/list-items.ts';
import { anyText } from '../../../builders/any-text.ts';

/** The items' texts and the rest, with the bytes cut at `cuts`. */
function split(text: string, cuts: readonly number[] = []): { items: string[]; rest: string } {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  const splitter = createListItems();
  const items: string[] = [];
  ends.forEach((end, index) => splitter.push(bytes.subarray(ends[index - 1] ?? 0, end), item => items.push(item)));
  return { items, rest: splitter.rest() };
}

describe('items of a list', () => {
  it('come one by one, in whatever order the members stand and wherever the bytes are cut', () => {
    const item = fc.dictionary(anyText(), fc.jsonValue());
    const metadata = fc.dictionary(anyText(), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.array(item),
        metadata,
        fc.boolean(),
        fc.constantFrom(0, 1),
        fc.array(fc.nat()),
        (items, meta, itemsFirst, indent, cuts) => {
          const list = itemsFirst ? { items, kind: 'L', metadata: meta } : { kind: 'L', metadata: meta, items };
          const found = split(JSON.stringify(list, undefined, indent), cuts);
          expect(found.items.map(text => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(items)));
          expect(JSON.parse(found.rest)).toEqual(JSON.parse(JSON.stringify({ ...list, items: [] })));
        },
      ),
    );
  });

  it('are only those of the list itself', () => {
    const text =
      '{"metadata":{"items":[{"a":1}]},"text":"\\"items\\":[{","other":[{"b":2}],"items":[{"items":[{"c":3}]}]}';
    const { items, rest } = split(text);
    expect(items).toEqual(['{"items":[{"c":3}]}']);
    expect(rest).toBe('{"metadata":{"items":[{"a":1}]},"text":"\\"items\\":[{","other":[{"b":2}],"items":[]}');
  });

  it('leaves what is no object, and null, to the reader of the rest', () => {
    expect(split('{"items":null}').rest).toBe('{"items":null}');
    expect(split('{"items":[7]}').rest).toBe('{"items":[7]}');
    expect(split('not json at all').rest).toBe('not json at all');
  });
});
