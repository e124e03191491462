import { assert, jsonValue, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duplicateFieldMessages, duplicateJsonFields } from '../../src/http/duplicate-fields.ts';

describe('repeated fields', () => {
  test('are found in JSON at any depth, with their path', () => {
    const text = '{"a":1,"spec":{"x":[{"b":1},{"b":"}","b":2,"c":{"d":0,"d":1}}]},"a":"{\\"a\\":1}"}';
    expect(duplicateJsonFields(text)).toEqual(['spec.x[1].b', 'spec.x[1].c.d', 'a']);
  });

  test('are found in YAML', () => {
    expect(duplicateFieldMessages('a: 1\nb: 2\na: 3\n', true)).toEqual(['line 3: key already set in map']);
  });

  test('are not seen where there are none, whatever the object', () => {
    assert(
      property(jsonValue(), value => {
        expect(duplicateJsonFields(JSON.stringify(value))).toEqual([]);
      }),
    );
  });
});
