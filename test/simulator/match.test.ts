import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mismatch, nearness, parsePath, valueAt } from '../../simulator/match.ts';
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';

const json = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)) as JsonValue);

describe('mismatch', () => {
  it('finds none between a value and itself', () => {
    fc.assert(
      fc.property(json, value => {
        expect(mismatch(value, value)).toBeUndefined();
      }),
    );
  });

  it('lets the actual object have more', () => {
    expect(mismatch({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toBeUndefined();
  });

  it('matches an array when each expected element is contained in some actual one, in any order', () => {
    const actual = [
      { type: 'Ready', status: 'False', reason: 'x' },
      { type: 'Network', status: 'True' },
    ];
    expect(mismatch([{ type: 'Network' }, { type: 'Ready', status: 'False' }], actual)).toBeUndefined();
    expect(mismatch([{ type: 'Network', status: 'False' }], actual)).toMatchObject({ path: '[0]' });
    expect(mismatch([], actual)).toBeUndefined();
  });

  it('names the first path that differs', () => {
    expect(mismatch({ a: { b: [1] } }, { a: { b: [2] } })).toEqual({ path: 'a.b[0]', expected: 1, actual: [2] });
    expect(mismatch({ a: { b: 1 } }, { a: null })).toEqual({ path: 'a', expected: { b: 1 }, actual: null });
  });

  it('tells null from absent, and text from number', () => {
    expect(mismatch({ a: null }, {})).toMatchObject({ path: 'a' });
    expect(mismatch({ a: '1' }, { a: 1 })).toMatchObject({ path: 'a' });
  });
});

describe('nearness', () => {
  it('counts the fields that agree', () => {
    expect(nearness({ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 2, d: 4 } })).toBe(2);
    expect(nearness({ a: 1 }, undefined)).toBe(0);
  });
});

describe('valueAt', () => {
  const object = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'a"b': 'x' } }, list: [{ k: 1 }] };

  it('reads quoted keys, plain keys and indexes', () => {
    expect(valueAt(object, 'metadata.annotations["karpenter.sh/do-not-disrupt"]')).toBe('true');
    expect(valueAt(object, 'metadata.annotations["a\\"b"]')).toBe('x');
    expect(valueAt(object, 'list[0].k')).toBe(1);
    expect(valueAt(object, 'list.0.k')).toBe(1);
  });

  it('finds nothing where there is nothing', () => {
    expect(valueAt(object, 'metadata.labels.a')).toBeUndefined();
    expect(valueAt(object, 'list[1].k')).toBeUndefined();
  });

  it('splits a path into its keys', () => {
    expect(parsePath('a.b["c.d/e"][3].f')).toEqual(['a', 'b', 'c.d/e', '3', 'f']);
  });
});
