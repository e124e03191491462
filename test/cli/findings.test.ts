import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import { renderFindings } from '../../cli/findings/excerpt.ts';
import { inOneVoice } from '../../cli/findings/voice.ts';
import type { Finding } from '../../simulator/scenario/finding.ts';

const finding = (more: Partial<Finding>): Finding => ({
  file: 'a.yaml',
  line: 2,
  path: 'spec.mode',
  message: 'must be one of Enforce, Observe, not "in"',
  severity: 'error',
  ...more,
});
const render = (text: string, more: Partial<Finding>, colors = createColors(false)): readonly string[] =>
  renderFindings([finding(more)], { texts: new Map([['a.yaml', text]]), colors });

describe('a finding', () => {
  it.each([
    ['a: 1\nmode: in # comment', 7, '       ^^'],
    ['a: 1\nmode: "i # n"', 7, '       ^^^^^^^'],
    ['a: 1\nx: { mode: 5 min, b: 1 }', 12, '            ^^^^^'],
    ['a = 1\nmode = "x"', 8, '        ^^^'],
    ['a: 1\nrepiar: {}', 1, ' ^^^^^^'],
    ['a: 1\nurl: http://a:80/b', 6, '      ^^^^^^^^^^^^^'],
    ['a: 1\n\tmode: x', 8, '        ^'],
  ])('shows the line %j with a caret below what it is about', (text, column, caret) => {
    expect(render(text, { column })).toEqual([
      `a.yaml:2:${column}: error: spec.mode: must be one of Enforce, Observe, not "in"`,
      ` 2 | ${text.split('\n')[1]?.replaceAll('\t', ' ')}`,
      `   |${caret}`,
    ]);
  });

  it('shows a part of a line that is long', () => {
    const [, line = '', caret = ''] = render(`a\n${'x'.repeat(500)}: bad${'y'.repeat(500)}`, { column: 503 });
    expect(line.length).toBeLessThan(130);
    expect(line.slice(caret.indexOf('^'))).toMatch(/^bady+$/);
  });

  it('shows nothing that a terminal would act on, and no line that is not there', () => {
    expect(render('a\n\u001b[2Jmode: x', { column: 5 }).join('')).not.toContain('\u001b');
    expect(render('a', { line: 9, column: 1 })).toHaveLength(1);
    expect(renderFindings([finding({ file: '/nowhere/x.yaml', column: 1 })])).toHaveLength(1);
  });

  it('is coloured where colours are asked for, and nowhere else', () => {
    const lines = render('a\nmode: x', { column: 7 }, createColors(true));
    expect(lines[0]).toContain('\u001b[31merror\u001b[39m');
    expect(lines[2]?.split('\u001b[31m')[1]).toMatch(/^ +\^/);
    expect(render('a\nmode: x', { column: 7 }).join('')).not.toContain('\u001b');
  });
});

describe('one voice', () => {
  const said = (message: string, value: unknown): string =>
    inOneVoice(message, { path: ['spec', 'x'], value, schema: {} });
  it.each<[string, unknown, string]>([
    [
      'Unsupported value: "in": supported values: "Enforce", "Observe"',
      'in',
      'must be one of Enforce, Observe, not "in"',
    ],
    [
      'Invalid option: expected one of "Enforce"|"Observe"',
      'enforce',
      'must be one of Enforce, Observe, not "enforce", did you mean "Enforce"?',
    ],
    ['Invalid value: "integer": spec.x in body must be of type string: "integer"', 10, 'must be text, not 10'],
    ['Invalid input: expected string, received number', 10, 'must be text, not 10'],
    [
      'Unsupported value: true: supported values: "True", "False"',
      true,
      'must be one of True, False, not true: write "True", with the quotes',
    ],
    ['Unsupported value: true: supported values: "Keep"', true, 'must be Keep, not true'],
    ['Invalid input: expected boolean, received string', 'yes', 'must be true or false, not "yes"'],
    ['Required value', undefined, 'is missing'],
    ['is missing, string expected', undefined, 'is missing; it must be text'],
    ['is missing, one of "Enforce", "Observe" expected', undefined, 'is missing; it must be one of Enforce, Observe'],
    [
      'time: unknown unit "d" in duration "4d"',
      '4d',
      'must be a duration such as 24h, 10m or 1h30m, not "4d": there is no unit "d"',
    ],
    [
      'time: missing unit in duration "4"',
      '4',
      'must be a duration such as 24h, 10m or 1h30m, not "4": a unit is missing',
    ],
    ['time: invalid duration "soon"', 'soon', 'must be a duration such as 24h, 10m or 1h30m, not "soon"'],
    ['must be positive, got "0s"', '0s', 'must be positive, not "0s"'],
    ['Invalid value: 0: spec.x in body should be greater than or equal to 1', 0, 'must be at least 1, not 0'],
    ['Too small: expected number to be >=1', 0, 'must be at least 1, not 0'],
    ['Invalid value: "": spec.x in body should be at least 1 chars long', '', 'must not be empty'],
    ['Too long: may not be more than 63 bytes', 'x', 'must have at most 63 characters, not "x"'],
    ['Invalid value: "A": spec.x in body should match \'^[a-z]+$\'', 'A', 'must match ^[a-z]+$, not "A"'],
    ['must be a DNS label', 'A_b', 'must be a DNS label, not "A_b"'],
    ['nothing can follow Terminate', 'Terminate', 'nothing can follow Terminate'],
  ])('%s', (message, value, expected) => {
    expect(said(message, value)).toBe(expected);
  });
});
