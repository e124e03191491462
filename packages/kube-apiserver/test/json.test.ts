import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyObject, equalJson, shareObject } from '../src/json.ts';
import { Collection } from '../src/store/collection.ts';
import { WatchHistory } from '../src/store/watch-history.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';

const json = fc
  .object({
    maxDepth: 3,
    withNullPrototype: false,
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    values: [fc.constantFrom('x', 'y'), fc.integer({ min: 0, max: 2 }), fc.boolean(), fc.constant(null)],
  })
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));

describe('sharing', () => {
  it('changes nothing but identity', () => {
    fc.assert(
      fc.property(json, json, (previous, next) => {
        expect(shareObject(previous, next)).toEqual(next);
      }),
    );
  });

  it('returns the previous object for an equal one', () => {
    fc.assert(
      fc.property(json, previous => {
        expect(shareObject(previous, copyObject(previous))).toBe(previous);
      }),
    );
  });

  it('keeps every equal part', () => {
    fc.assert(
      fc.property(json, json, (previous, other) => {
        const next = copyObject({ same: previous, other });
        expect(shareObject({ same: previous, other: 'x' }, next).same).toBe(previous);
      }),
    );
  });
});

describe('equality', () => {
  it('is that of the texts, but for the order of members', () => {
    const sorted = (value: unknown): unknown =>
      JSON.stringify(value, (_, member: unknown) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          : member,
      );
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(equalJson(a, b)).toBe(sorted(a) === sorted(b));
      }),
    );
  });
});

describe('copying', () => {
  it('takes dates as they serialize, and drops what is undefined', () => {
    const at = new Date('2024-11-01T15:00:00Z');
    expect(copyObject({ at, none: undefined, list: [1] })).toEqual({ at: '2024-11-01T15:00:00.000Z', list: [1] });
  });

  it('keeps a key called __proto__ as a key', () => {
    const copy = copyObject(JSON.parse('{"__proto__":{"x":1}}'));
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it.each([[{ f: () => 1 }], [{ n: Number.NaN }], [{ b: 1n }]])('refuses what JSON cannot say', value => {
    expect(() => copyObject(value)).toThrow(TypeError);
  });
});

describe('a collection', () => {
  it('lists what was put and not removed, in order', () => {
    const operation = fc.record({
      put: fc.boolean(),
      namespace: fc.constantFrom('a', 'a-b', 'b'),
      name: fc.constantFrom('x', 'y', 'x-y'),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), operations => {
        const collection = new Collection();
        const model = new Map<string, JsonObject>();
        for (const { put, namespace, name } of operations) {
          const object = { namespace, name };
          const key = `${namespace}/${name}`;
          if (put) {
            collection.put(namespace, name, object);
            model.set(key, object);
          } else {
            collection.remove(namespace, name);
            model.delete(key);
          }
          // Listing in between must not freeze the order.
          collection.list();
        }
        const expected = [...model].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
        expect(collection.list()).toEqual(expected);
        expect(collection.size).toBe(model.size);
        expect(collection.list('a')).toEqual(expected.filter(({ namespace }) => namespace === 'a'));
        expect(collection.hasNamespace('b')).toBe(expected.some(({ namespace }) => namespace === 'b'));
      }),
    );
  });
});

describe('a watch history', () => {
  it('has everything since a version that it reaches, and nothing older than its size', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 20 }),
        (capacity, gaps) => {
          const history = new WatchHistory(capacity, 10);
          const versions: number[] = [];
          let version = 10;
          for (const gap of gaps) {
            version += gap;
            versions.push(version);
            history.add({ version, type: 'ADDED', object: {}, previous: undefined });
          }
          for (let from = 10; from <= version; from += 1) {
            const since = versions.filter(each => each > from);
            expect(history.reaches(from)).toBe(since.length <= capacity);
            if (history.reaches(from)) expect(history.since(from).map(change => change.version)).toEqual(since);
          }
          expect(history.reaches(9)).toBe(false);
        },
      ),
    );
  });
});
