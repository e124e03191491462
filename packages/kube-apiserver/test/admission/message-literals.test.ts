import { describe, expect, it } from 'vitest';
import { compilePolicyExpression, toJson } from '../../src/admission/cel.ts';
import { withoutMessageLiterals } from '../../src/admission/message-literals.ts';

describe('message literals', () => {
  it.each([
    ['Object{a: 1}', 'newMessage("Object", {"a": 1})'],
    ['Object.spec {a: b, c: d}', 'newMessage("Object.spec",  {"a": b, "c": d})'],
    ['Object{}', 'newMessage("Object", {})'],
    ['Object{a: x ? y : z}', 'newMessage("Object", {"a": x ? y : z})'],
    ['Object{a: {b: c}, d: [e, f]}', 'newMessage("Object", {"a": {b: c}, "d": [e, f]})'],
    ['Object{a: Object.a{b: f(c, d)}}', 'newMessage("Object", {"a": newMessage("Object.a", {"b": f(c, d)})})'],
    ['Object{?a: b, ?c: d}', 'newMessage("Object", {?"a": b, ?"c": d})'],
    [`Object{a: 'Object{b: 1}', "c": r"\\{"}`, `newMessage("Object", {"a": 'Object{b: 1}', "c": r"\\{"})`],
    ['// Object{a: 1}\nObject{a: 1}', '// Object{a: 1}\nnewMessage("Object", {"a": 1})'],
    ['x in {"a": 1}', 'x in {"a": 1}'],
    ['{"a": 1}', '{"a": 1}'],
    ['self.a.exists(x, x == {})', 'self.a.exists(x, x == {})'],
  ])('%s', (written, expected) => {
    expect(withoutMessageLiterals(written)).toBe(expected);
  });

  it.each([
    [
      'Object{metadata: Object.metadata{labels: {"a": "b"}}, n: [1, 2.5, null, true]}',
      { metadata: { labels: { a: 'b' } }, n: [1, 2.5, null, true] },
    ],
    [
      '[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("b/c~d"), value: {"x": 1}}]',
      [{ op: 'add', path: '/a/b~1c~0d', value: { x: 1 } }],
    ],
    ['Object{a: optional.none(), b: optional.of("x")}', { b: 'x' }],
    ['Object{at: timestamp("2024-11-01T15:00:00Z")}', { at: '2024-11-01T15:00:00Z' }],
  ])('%s makes what it says', (expression, expected) => {
    const result = compilePolicyExpression(expression)({});
    expect(result.kind === 'value' ? toJson(result.value) : result.message).toEqual(expected);
  });
});
