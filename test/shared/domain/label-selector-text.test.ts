import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLabelSelector, selectsLabels } from '../../../shared/domain/label-selector-text.ts';
import { anyText } from '../../builders/any-text.ts';

function selects(text: string, labels: Record<string, string>): boolean {
  const parsed = parseLabelSelector(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return selectsLabels(parsed.requirements, labels);
}

describe('selectors in text', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['', {}, true],
    ['  ', { a: 'b' }, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a = b', { a: 'b' }, true],
    ['a=', { a: '' }, true],
    ['a!=b', { a: 'c' }, true],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a in (b,c)', {}, false],
    ['a in ( b , c )', { a: 'b' }, true],
    ['a notin (b)', { a: 'b' }, false],
    ['a notin (b)', {}, true],
    ['a in ()', { a: '' }, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['! a', { a: '1' }, false],
    ['in in (in)', { in: 'in' }, true],
    ['a>1', { a: '2' }, true],
    ['a>1', { a: '1' }, false],
    ['a<1', { a: '-3' }, true],
    ['a>1', { a: 'x' }, false],
    ['a>1', {}, false],
    ['a,b=c,!d', { a: '1', b: 'c' }, true],
    ['a,b=c,!d', { a: '1', b: 'c', d: '' }, false],
    ['example.com/a=b', { 'example.com/a': 'b' }, true],
    // What every JavaScript object has is no label.
    ['constructor', {}, false],
    ['!constructor', {}, true],
  ])('%s on %j is %s', (text, labels, expected) => {
    expect(selects(text, labels)).toBe(expected);
  });

  it.each([
    ['a=b,', 'expected a label key, found the end'],
    [',a', 'expected a label key, found ","'],
    ['a b', 'expected =, ==, !=, in, notin, < or > after "a", found "b"'],
    ['a in b', 'expected "(" after in or notin'],
    ['a in (b', 'expected "," or ")" in a list of values'],
    ['a=b c', 'expected a comma, found "c"'],
    ['a=-b', '"-b" is not a label value'],
    ['-a', '"-a" is not a label key'],
    ['UPPER/a', '"UPPER/a" is not a label key'],
    ['/a', '"/a" is not a label key'],
    ['a>b', '> compares whole numbers, got "b"'],
    ['=b', 'expected a label key, found "="'],
  ])('%s is refused', (text, message) => {
    expect(parseLabelSelector(text)).toEqual({ ok: false, message });
  });

  it('nodes of NVSentinel scenario 64', () => {
    const text = 'scheduler in (slurm,lsf),!drain.example.com/native';
    const of = (labels: Record<string, string>): boolean => selects(text, labels);
    expect([
      of({ scheduler: 'slurm' }),
      of({ scheduler: 'lsf' }),
      of({ scheduler: 'kueue' }),
      of({ scheduler: 'slurm', 'drain.example.com/native': '' }),
      of({}),
    ]).toEqual([true, true, false, false, false]);
  });

  it('answers any text without throwing', () => {
    const texts = fc.oneof(
      anyText(),
      fc.string({ unit: fc.constantFrom('a', 'in', 'notin', '=', '!', '<', '>', '(', ')', ',', ' ', '/', '-', '\n') }),
    );
    fc.assert(
      fc.property(texts, text => typeof parseLabelSelector(text).ok === 'boolean'),
      { numRuns: 10_000 },
    );
  });
});
