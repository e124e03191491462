import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequire } from 'node:module';
import { itemSize } from '../../../runtime/memory/item-size.ts';
import { toAttributes } from '../../../shared/adapters/dynamodb/attributes.ts';

/** That of dynalite, which was measured against DynamoDB; it takes characters for bytes. */
const { itemSize: measured } = createRequire(import.meta.url)('dynalite/db') as {
  readonly itemSize: (attributes: object) => number;
};

const text = fc.string({ unit: 'grapheme-ascii' }).filter(each => each !== '__proto__');
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }));
const { value } = fc.letrec(tie => ({
  value: fc.oneof({ depthSize: 'small' }, text, number, fc.boolean(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('value')),
  map: fc.dictionary(text, tie('value')),
}));

describe('the size of an item', () => {
  it.each([
    ['a text', { a: 'bcd' }, 4],
    ['bytes, not characters', { ä: '€' }, 5],
    ['an emptied text', { a: '' }, 1],
    ['yes, no and nothing', { a: true, b: null }, 4],
    ['nothing at all', { a: undefined }, 0],
    ['zero', { a: 0 }, 2],
    ['two digits', { a: 12 }, 3],
    ['trailing zeros', { a: 1_000_000 }, 3],
    ['a minus', { a: -12 }, 4],
    ['an instant', { a: 1_730_473_200_000 }, 7],
    ['a list', { a: ['b', 'c'] }, 8],
    ['a map', { a: { b: 'c', d: undefined } }, 7],
  ])('counts %s', (_, item, size) => {
    expect(itemSize(item)).toBe(size);
  });

  it('is as it was measured', () => {
    fc.assert(
      fc.property(fc.dictionary(text, value), item => {
        const plain = JSON.parse(JSON.stringify(item)) as Record<string, never>;
        expect(itemSize(plain)).toBe(measured(toAttributes(plain)));
      }),
    );
  });
});
