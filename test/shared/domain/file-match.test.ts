import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesFilePattern, parseFilePattern } from '../../../shared/domain/file-match.ts';

const matches = (pattern: string, name: string): boolean | 'bad pattern' => {
  const parsed = parseFilePattern(pattern);
  return parsed === undefined ? 'bad pattern' : matchesFilePattern(parsed, name);
};

describe("Go's filepath.Match", () => {
  it.each([
    ['abc', 'abc', true],
    ['*', 'abc', true],
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['*c', 'abc', true],
    ['a*', 'a', true],
    ['a*', 'abc', true],
    ['a*b*c*d*e*', 'axbxcxdxe', true],
    ['a*b*c*d*e*', 'axbxcxdxexxx', true],
    ['a*b?c*x', 'abxbbxdbxebxczzx', true],
    ['a*b?c*x', 'abxbbxdbxebxczzy', false],
    ['ab[c]', 'abc', true],
    ['ab[b-d]', 'abc', true],
    ['ab[e-g]', 'abc', false],
    ['ab[^c]', 'abc', false],
    ['ab[^b-d]', 'abc', false],
    ['ab[^e-g]', 'abc', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'ab', false],
    ['a?b', 'a☺b', true],
    ['a[^a]b', 'a☺b', true],
    ['a???b', 'a☺b', false],
    ['[a-ζ]*', 'α', true],
    ['*[a-ζ]', 'A', false],
    ['[\\]a]', ']', true],
    ['[\\-]', '-', true],
    ['[x\\-]', 'x', true],
    ['[x\\-]', 'z', false],
    ['[\\-x]', 'a', false],
    ['*x', 'xxx', true],
    ['kube-*', 'kube-system', true],
    ['kube-*', 'kubeflow', false],
    ['{a,b}', 'a', false],
    ['{a,b}', '{a,b}', true],
    ['**', 'anything', true],
    ['Team', 'team', false],
    ['eam', 'team', false],
  ])('%s on %s is %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it.each(['[]a]', '[-]', '[x-]', '[-x]', '[a-b-c]', '[', '[^', '[^bc', 'a[', 'a\\', '[\\', '[a-', '[^]', '[]'])(
    '%s is no pattern',
    pattern => {
      expect(matches(pattern, 'a')).toBe('bad pattern');
    },
  );

  it('an escaped name matches itself only', () => {
    const escaped = (text: string): string => Array.from(text, character => `\\${character}`).join('');
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        expect(matches(escaped(name), name)).toBe(true);
        expect(matches(escaped(name), other)).toBe(name === other);
      }),
    );
  });

  it('never hangs', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('*', 'a', '?', '[', ']', '\\', '-', '^') }), pattern => {
        expect([true, false, 'bad pattern']).toContain(matches(pattern, 'a'.repeat(63)));
      }),
      { numRuns: 2000 },
    );
    expect(matches('*a'.repeat(400), 'a'.repeat(399))).toBe(false);
  });
});
