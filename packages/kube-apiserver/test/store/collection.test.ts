import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { Collection } from '../../src/store/collection.ts';
import type { Equality } from '../../src/store/value-index.ts';

const equality = (field: string, value: string): Equality => ({ id: field, read: object => object[field], value });

const names = ['a', 'a-b', 'b', 'c'];
const namespaces = ['', 'a', 'a-b'];
const values = ['x', 'y', undefined];
const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'remove', 'list', 'listInNamespace'),
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...names),
  field: fc.constantFrom('tier', 'zone'),
  value: fc.constantFrom(...values),
});

describe('the objects with one value', () => {
  it('are those of the whole list that have it, in its order, whatever was written before and after', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const collection = new Collection();
        for (const { kind, namespace, name, field, value } of steps) {
          if (kind === 'put') collection.put(namespace, name, { name, ...(value !== undefined && { [field]: value }) });
          else if (kind === 'remove') collection.remove(namespace, name);
          else {
            const within = kind === 'list' ? undefined : namespace;
            const wanted = value ?? 'x';
            const expected = collection.list(within).filter((object: JsonObject) => object[field] === wanted);
            expect(collection.listEqual(equality(field, wanted), within)).toEqual(expected);
          }
        }
      }),
    );
  });

  it('are the stored objects themselves', () => {
    const collection = new Collection();
    const object = { tier: 'x' };
    collection.put('default', 'a', object);
    expect(collection.listEqual(equality('tier', 'x'))?.[0]).toBe(object);
  });

  it('are not looked for in another namespace whose name begins alike', () => {
    const collection = new Collection();
    collection.put('a', 'x', { tier: 'x' });
    collection.put('a-b', 'x', { tier: 'x' });
    expect(collection.listEqual(equality('tier', 'x'), 'a')).toHaveLength(1);
  });

  it('have an index only for so many of the questions that are asked', () => {
    const collection = new Collection();
    collection.put('', 'a', { tier: 'x' });
    const answers = Array.from({ length: 9 }, (_unused, index) =>
      collection.listEqual(equality(`field-${index}`, 'x')),
    );
    expect(answers).toEqual([...Array.from({ length: 8 }, () => []), undefined]);
    expect(collection.listEqual(equality('field-0', 'x'))).toEqual([]);
  });
});
