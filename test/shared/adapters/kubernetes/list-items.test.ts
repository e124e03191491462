import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readItems } from '../../../../shared/adapters/kubernetes/list-items.ts';
import { anyText } from '../../../builders/any-text.ts';

const read = (text: string, unread: readonly string[] = []) =>
  readItems(Buffer.from(text), unread, () => (item: unknown) => item);

/** So large that it is looked for by itself. */
const FILLING = { filling: 'x'.repeat(2000) };
const UNREAD = ['images', 'managedFields'];

const anyFields = fc.dictionary(anyText(), fc.jsonValue());
/** With everything in it that might be taken for the end of an item or of a list. */
const anyItem = fc.record(
  {
    metadata: fc.record({
      name: fc.oneof(anyText(), fc.constantFrom('"items":[{', '},{"metadata":{', '}]', '\\"images":[{', '"}]')),
      managedFields: fc.array(anyFields),
    }),
    spec: fc.jsonValue(),
    status: fc.record({ images: fc.array(anyFields) }),
    more: fc.array(fc.record({ metadata: fc.record({ images: fc.array(anyFields) }) }), { maxLength: 2 }),
  },
  { requiredKeys: ['metadata'] },
);

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** Every list of these names is empty. */
function emptied(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each: unknown) => (UNREAD.includes(key) && Array.isArray(each) ? [] : each)),
  );
}

describe('items of a list', () => {
  it('come as they are, or not at all, whatever stands in them', () => {
    let taken = 0;
    fc.assert(
      fc.property(
        fc.array(anyItem, { minLength: 1, maxLength: 3 }),
        fc.dictionary(anyText(), fc.jsonValue()),
        fc.boolean(),
        (raw, meta, itemsFirst) => {
          const items = raw.map(({ metadata, ...item }) => ({ metadata: { ...metadata }, ...item, ...FILLING }));
          const list = itemsFirst ? { items, kind: 'L', metadata: meta } : { kind: 'L', metadata: meta, items };
          const whole = read(JSON.stringify(list));
          const short = read(JSON.stringify(list), UNREAD);
          for (const found of [whole, short]) {
            if (found === undefined) continue;
            taken += 1;
            expect(found.rest).toEqual(plain({ ...list, items: [] }));
          }
          if (whole !== undefined) expect(whole.items).toEqual(plain(items));
          // Which of several lists of a name is left out does not matter.
          if (short !== undefined) expect(short.items.map(emptied)).toEqual(items.map(emptied));
        },
      ),
      { numRuns: 200 },
    );
    expect(taken).toBeGreaterThan(50);
  });

  it('come without what nobody reads', () => {
    const item = (name: string) => ({
      metadata: { name, managedFields: [{ fieldsV1: { 'f:images': {} } }] },
      status: { images: [{ names: ['a}', 'b]'] }, { names: [] }], conditions: [{ type: 'Ready' }] },
      ...FILLING,
    });
    const list = { kind: 'NodeList', metadata: { resourceVersion: '7' }, items: [item('a'), item('b'), item('c')] };
    expect(read(JSON.stringify(list), UNREAD)).toEqual({
      items: ['a', 'b', 'c'].map(name => ({
        metadata: { name, managedFields: [] },
        status: { images: [], conditions: [{ type: 'Ready' }] },
        ...FILLING,
      })),
      rest: { ...list, items: [] },
    });
  });

  it('come whole where such a list ends elsewhere than it seems to', () => {
    const items = ['a', 'b'].map(name => ({
      metadata: { name },
      images: [{ names: ['}]'] }, { inner: [{ a: 1 }] }],
      ...FILLING,
    }));
    expect(read(JSON.stringify({ metadata: {}, items }), UNREAD)?.items).toEqual(items);
  });

  it('get what stands before them', () => {
    const text = JSON.stringify({
      kind: 'NodeList',
      apiVersion: 'v1',
      metadata: {},
      items: [{ metadata: {}, ...FILLING }],
    });
    expect(readItems(Buffer.from(text), [], start => () => start)?.items).toEqual([
      '{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[',
    ]);
  });

  it.each([
    ['no list', '{"kind":"Status"}'],
    ['null', '{"metadata":{},"items":null}'],
    ['an empty list', '{"metadata":{},"items":[]}'],
    ['what is no object', '{"items":[7]}'],
    ['what is not JSON', 'not json at all'],
    ['a list that is cut off', `{"items":[{"metadata":{},"a":"${'x'.repeat(3000)}"},{"metadata":{}`],
    ['lines and spaces', JSON.stringify({ items: [{ metadata: {}, ...FILLING }] }, undefined, 1)],
    ['items of something inside', '{"metadata":{"items":[{"a":{}}]},"items":[{"items":[{"c":{}}]}]}'],
    ['items that are small', '{"metadata":{},"items":[{"metadata":{}},{"metadata":{}}]}'],
  ])('are left to the parser of the whole: %s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});
