import { describe, expect, it } from 'vitest';
import { complainAboutRules } from '../src/schema/rules.ts';
import { compileSchema } from '../src/schema/structural.ts';
import { parseQuantity } from '../src/schema/quantity.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';

type Rule = string | JsonObject;

/** The complaints of one rule on a field `x` of the schema, `field: message` each. */
function check(
  property: JsonObject,
  rule: Rule,
  next: unknown,
  old?: unknown,
): { causes: string[]; skipped: string[] } {
  const written = typeof rule === 'string' ? { rule, message: 'broken' } : rule;
  const schema = compileSchema({
    type: 'object',
    properties: { x: { ...property, 'x-kubernetes-validations': [written] } },
  });
  const skipped: string[] = [];
  const object = (x: unknown): JsonObject => JSON.parse(JSON.stringify({ x }));
  const causes = complainAboutRules(object(next), old === undefined ? undefined : object(old), schema, {
    skipped: warning => skipped.push(warning),
  });
  return { causes: causes.map(({ field, message }) => `${field}: ${message}`), skipped };
}

const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };
const TEXTS = { type: 'array', items: TEXT };
const MAP = { type: 'object', additionalProperties: TEXT };
const OBJECT = { type: 'object', properties: { a: INTEGER, b: TEXTS, 'c-d': TEXT, namespace: TEXT } };

describe('a rule', () => {
  it.each<[JsonObject, string, unknown, boolean]>([
    [TEXT, 'self != ""', 'a', true],
    [TEXT, 'self != ""', '', false],
    [TEXT, 'self in ["a", "b"]', 'b', true],
    [TEXT, '!self.find("^([^/]+)").endsWith("example.com")', 'example.com/x', false],
    [TEXT, '!self.find("^([^/]+)").endsWith("example.com")', 'other.org/x', true],
    [TEXT, 'self.findAll("[0-9]+").size() == 2', 'a1b22', true],
    [TEXT, 'self.replace("-", "_") == "a_b"', 'a-b', true],
    [TEXT, 'self.startsWith("a") && self.size() < 3', 'ab', true],
    [TEXT, 'duration(self) >= duration("1m")', '90s', true],
    [TEXT, 'duration(self) >= duration("1m")', '30s', false],
    [TEXT, 'quantity(self).isGreaterThan(quantity("500m"))', '1', true],
    [TEXT, 'isQuantity(self)', '1.5Gi', true],
    [TEXT, 'isQuantity(self)', 'much', false],
    [{ type: 'string', format: 'date-time' }, 'self > timestamp("2024-01-01T00:00:00Z")', '2024-06-01T00:00:00Z', true],
    [INTEGER, 'self % 2 == 0', 4, true],
    [INTEGER, 'self % 2 == 0', 3, false],
    [{ type: 'number' }, 'self > 0.5', 1, true],
    [{ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self > 0 : self.endsWith("%")', 5, true],
    [{ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self > 0 : self.endsWith("%")', '5%', true],
    [TEXTS, 'self.all(t, t.size() > 1)', ['ab', 'c'], false],
    [TEXTS, 'self.exists_one(t, t == "a")', ['a', 'b', 'a'], false],
    [TEXTS, 'self.isSorted()', ['a', 'b'], true],
    [TEXTS, 'self.isSorted()', ['b', 'a'], false],
    [{ type: 'array', items: INTEGER }, 'self.sum() == 6 && self.max() == 3 && self.min() == 1', [1, 2, 3], true],
    [MAP, 'self.all(key, key != "bad")', { good: '' }, true],
    [MAP, 'self.all(key, key != "bad")', { bad: '' }, false],
    [MAP, '"a" in self && self["a"] == "1"', { a: '1' }, true],
    [OBJECT, 'has(self.a) == has(self.b)', { a: 1 }, false],
    [OBJECT, '!has(self.a) || self.b.size() >= self.a', { a: 2, b: ['x', 'y'] }, true],
    [OBJECT, 'self.c__dash__d == self.__namespace__', { 'c-d': 'x', namespace: 'x' }, true],
    [OBJECT, 'self.?a.orValue(7) == 7', {}, true],
    [OBJECT, '!has(self.constructor)', {}, true],
  ])('on %j: %s for %j is %s', (property, rule, value, holds) => {
    const { causes, skipped } = check(property, rule, value);
    expect(skipped).toEqual([]);
    expect(causes).toHaveLength(holds ? 0 : 1);
  });

  it.each<[string, JsonObject, Rule, unknown, string]>([
    ['quotes a scalar', TEXT, { rule: 'false', message: 'no' }, 'v', 'x: Invalid value: "v": no'],
    ['does not quote an object', MAP, { rule: 'false', message: 'no' }, {}, 'x: Invalid value: no'],
    [
      'shows the rule where there is no message',
      TEXT,
      { rule: 'self == ""' },
      'v',
      'x: Invalid value: "v": failed rule: self == ""',
    ],
    [
      'computes its message',
      TEXT,
      { rule: 'false', messageExpression: '"not " + self', message: 'no' },
      'v',
      'x: Invalid value: "v": not v',
    ],
    [
      'falls back on its message',
      TEXT,
      { rule: 'false', messageExpression: 'self.nope', message: 'no' },
      'v',
      'x: Invalid value: "v": no',
    ],
    ['names a field', OBJECT, { rule: 'false', message: 'no', fieldPath: '.a' }, {}, 'x.a: Invalid value: no'],
    ['gives a reason', TEXT, { rule: 'false', message: 'no', reason: 'FieldValueForbidden' }, 'v', 'x: Forbidden: no'],
    [
      'gives another reason',
      TEXT,
      { rule: 'false', message: 'no', reason: 'FieldValueRequired' },
      'v',
      'x: Required value: no',
    ],
    [
      'that fails is broken',
      OBJECT,
      { rule: 'self.a > 0', message: 'no' },
      {},
      'x: Invalid value: "object": no such key: a evaluating rule: no',
    ],
    [
      'that converts what is no duration is broken',
      TEXT,
      { rule: 'duration(self) > duration("0s")', message: 'no' },
      '1d',
      `x: Invalid value: "string": type conversion error from 'string' to 'google.protobuf.Duration' evaluating rule: no`,
    ],
    [
      'that converts what is no time is broken',
      TEXT,
      { rule: 'timestamp(self) > timestamp("2024-01-01T00:00:00Z")', message: 'no' },
      'noon',
      `x: Invalid value: "string": type conversion error from 'string' to 'google.protobuf.Timestamp' evaluating rule: no`,
    ],
    [
      'that converts what is no number is broken',
      TEXT,
      { rule: 'double(self) > 0.0', message: 'no' },
      'x',
      `x: Invalid value: "string": type conversion error from 'string' to 'double' evaluating rule: no`,
    ],
  ])('%s', (_, property, rule, value, cause) => {
    expect(check(property, rule, value).causes).toEqual([cause]);
  });

  it('that this implementation cannot evaluate is skipped with a warning', () => {
    const { causes, skipped } = check(TEXT, 'url(self).getHost() == "a"', 'x');
    expect(causes).toEqual([]);
    expect(skipped).toEqual([
      expect.stringContaining('skipped a rule that is not supported here, at x: url(self).getHost() == "a"'),
    ]);
  });

  it('holds for items, members and properties below', () => {
    const rule = { rule: 'self != ""', message: 'empty' };
    const text = { type: 'string', 'x-kubernetes-validations': [rule] };
    const schema = compileSchema({
      type: 'object',
      properties: { list: { type: 'array', items: text }, map: { type: 'object', additionalProperties: text } },
    });
    const causes = complainAboutRules({ list: ['a', ''], map: { k: '' } }, undefined, schema, {
      skipped: () => undefined,
    });
    expect(causes.map(({ field }) => field)).toEqual(['list[1]', 'map[k]']);
  });

  it('is not checked on null', () => {
    expect(check({ ...TEXT, nullable: true }, 'false', null).causes).toEqual([]);
  });

  it('is not checked again where nothing changed', () => {
    expect(check(TEXT, 'false', 'v', 'v').causes).toEqual([]);
    expect(check(TEXT, 'false', 'v', 'w').causes).toHaveLength(1);
  });
});

describe('a transition rule', () => {
  it('compares with the old value, and says nothing where there is none', () => {
    const rule = 'self >= oldSelf';
    expect(check(INTEGER, rule, 1).causes).toEqual([]);
    expect(check(INTEGER, rule, 2, 1).causes).toEqual([]);
    expect(check(INTEGER, rule, 1, 2).causes).toEqual(['x: Invalid value: 1: broken']);
  });

  it('is checked where nothing changed, too', () => {
    expect(check(INTEGER, 'self > oldSelf', 1, 1).causes).toHaveLength(1);
  });

  it('makes a field immutable', () => {
    const rule = { rule: 'self == oldSelf', message: 'x is immutable' };
    expect(check(OBJECT, rule, { a: 1, b: ['x'] }, { a: 1, b: ['x'] }).causes).toEqual([]);
    expect(check(OBJECT, rule, { a: 1, b: ['x'] }, { a: 1, b: ['y'] }).causes).toEqual([
      'x: Invalid value: x is immutable',
    ]);
  });

  it('finds the old item of a map list by its keys, and none in other lists', () => {
    const rules = [{ rule: 'self.v >= oldSelf.v', message: 'less' }];
    const items = { type: 'object', properties: { k: TEXT, v: INTEGER }, 'x-kubernetes-validations': rules };
    const ofList = (more: JsonObject) =>
      compileSchema({ type: 'object', properties: { x: { type: 'array', items, ...more } } });
    const old = {
      x: [
        { k: 'a', v: 2 },
        { k: 'b', v: 2 },
      ],
    };
    const next = {
      x: [
        { k: 'b', v: 1 },
        { k: 'a', v: 3 },
      ],
    };
    const run = { skipped: () => undefined };
    const byKey = complainAboutRules(
      next,
      old,
      ofList({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
      run,
    );
    expect(byKey.map(({ field }) => field)).toEqual(['x[0]']);
    expect(complainAboutRules(next, old, ofList({}), run)).toEqual([]);
  });

  it('may ask whether there is an old value', () => {
    const rule = {
      rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self == "first"',
      message: 'broken',
      optionalOldSelf: true,
    };
    expect(check(TEXT, rule, 'first')).toEqual({ causes: [], skipped: [] });
    expect(check(TEXT, rule, 'second').causes).toHaveLength(1);
    expect(check(TEXT, rule, 'second', 'second')).toEqual({ causes: [], skipped: [] });
    expect(check(TEXT, rule, 'third', 'second').causes).toHaveLength(1);
  });
});

describe('a quantity', () => {
  it.each<[string, bigint | undefined]>([
    ['1', 1_000_000_000n],
    ['100m', 100_000_000n],
    ['1.5', 1_500_000_000n],
    ['.5', 500_000_000n],
    ['2k', 2_000_000_000_000n],
    ['1Ki', 1_024_000_000_000n],
    ['1.5Gi', 1_610_612_736_000_000_000n],
    ['1e3', 1_000_000_000_000n],
    ['1E3', 1_000_000_000_000n],
    ['-1', -1_000_000_000n],
    ['0.1n', 1n],
    ['994Ei', 9_223_372_036_854_775_807_000_000_000n],
    ['-994Ei', -9_223_372_036_854_775_807_000_000_000n],
    ['994E', 994_000_000_000_000_000_000_000_000_000n],
    ['1 Gi', undefined],
    ['', undefined],
    ['Gi', undefined],
  ])('%j is %s nano-units', (text, nanos) => {
    expect(parseQuantity(text)?.nanos).toBe(nanos);
  });
});
