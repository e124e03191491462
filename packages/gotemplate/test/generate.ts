/** Random templates: by the grammar, and vectors' templates with random damage. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Vector } from '../vectors/run.ts';

const file = path.join(import.meta.dirname, 'fixtures/go-template-vectors.json');
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
const templates = vectors.map(vector => vector.template).filter(template => template.length < 2000);

export const FIELDS = ['a', 'b', 'list', 'constructor', '__proto__', 'toString', 'length', 'hasOwnProperty', 'é'];
const FUNCTIONS =
  'and or not call index slice len print println printf html js urlquery eq ne lt le gt ge missing'.split(' ');
const TOKENS = [
  '{{',
  '}}',
  '{{-',
  '-}}',
  '.',
  '$x',
  ':=',
  '=',
  '|',
  '(',
  ')',
  '"',
  '`',
  "'",
  '/*',
  '*/',
  ' ',
  '\n',
  '0x',
  '9',
];
const WORDS = [
  'if',
  'else',
  'end',
  'range',
  'with',
  'define',
  'template',
  'block',
  'break',
  'continue',
  'nil',
  'é',
  '\u{1f600}',
];

const field = fc.array(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 3 }).map(names => '.' + names.join('.'));
const format = fc
  .array(fc.constantFrom('%', 'd', 'v', 'q', 'x', 's', 'T', 'e', '#', '+', '-', '0', '5', '.', '*', '[1]', 'z', '%v'), {
    maxLength: 8,
  })
  .map(parts => JSON.stringify(parts.join('')));
const literal = fc.oneof(
  fc.constantFrom(
    '1',
    '-7',
    '0x1F',
    '1e3',
    '2.5',
    "'a'",
    '3i',
    'true',
    'nil',
    '``',
    '9223372036854775807',
    '1_0',
    '0b2',
  ),
  fc.string().map(text => JSON.stringify(text)),
  format,
);

const { statements } = fc.letrec<{ operand: string; pipe: string; statement: string; statements: string }>(tie => ({
  operand: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    field,
    literal,
    fc.constantFrom('.', '$', '$x', '$i', '$x.a'),
    fc.tuple(tie('pipe'), fc.constantFrom('', '.a', '.constructor')).map(([pipe, chain]) => `(${pipe})${chain}`),
  ),
  pipe: fc.oneof(
    { depthSize: 'small' },
    tie('operand'),
    fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.array(tie('operand'), { maxLength: 3 }))
      .map(([name, args]) => [name, ...args].join(' ')),
    fc
      .tuple(format, fc.array(tie('operand'), { maxLength: 2 }))
      .map(([text, args]) => ['printf', text, ...args].join(' ')),
    fc.tuple(tie('pipe'), fc.constantFrom(...FUNCTIONS, 'printf "%v"')).map(([left, right]) => `${left} | ${right}`),
    tie('pipe').map(pipe => `$x := ${pipe}`),
  ),
  statement: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    tie('pipe').map(pipe => `{{${pipe}}}`),
    tie('pipe').map(pipe => ` {{- ${pipe} -}} `),
    fc
      .tuple(
        fc.constantFrom('if', 'with', 'range', 'range $i, $x :='),
        tie('pipe'),
        tie('statements'),
        tie('statements'),
      )
      .map(([word, pipe, then, otherwise]) => `{{${word} ${pipe}}}${then}{{else}}${otherwise}{{end}}`),
    tie('statements').map(body => `{{range 3}}${body}{{break}}{{end}}`),
    tie('statements').map(body => `{{define "t"}}${body}{{end}}`),
    tie('pipe').map(pipe => `{{template "t" ${pipe}}}`),
  ),
  statements: fc.array(tie('statement'), { maxLength: 3 }).map(parts => parts.join('')),
}));

/** Cuts, doubles and inserts tokens at random places. */
const damage = fc.array(
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(6), fc.constantFrom('', ...TOKENS, ...WORDS)),
  { minLength: 1, maxLength: 4 },
);
const damaged = fc.tuple(fc.constantFrom(...templates), damage).map(([template, cuts]) =>
  cuts.reduce((text, [where, length, token]) => {
    const at = Math.floor(where * text.length);
    return text.slice(0, at) + token + text.slice(at + length);
  }, template),
);
const soup = fc
  .array(fc.constantFrom(...TOKENS, ...WORDS, '.a', '1', '"s"'), { maxLength: 12 })
  .map(parts => parts.join(''));

export const anyTemplate: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: statements },
  { weight: 4, arbitrary: damaged },
  { weight: 1, arbitrary: soup },
);

/** Any code point but half a surrogate pair. */
const character = fc.nat(0x10_f7_ff).map(index => String.fromCodePoint(index < 0xd8_00 ? index : index + 0x08_00));

/** As `fc.string({ unit: 'binary' })`, which spends a second on a table of all code points before it makes the first text. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.array(character).map(characters => characters.join('')) },
  { weight: 1, arbitrary: fc.string() },
);

/** Data of every kind, nested, under the names that templates ask for. */
export const { anyData } = fc.letrec<{ anyData: unknown }>(tie => ({
  anyData: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, false, 0, -1, 2n ** 63n - 1n, 2n ** 64n - 1n, 1.5, -0, Infinity, NaN),
    fc.integer(),
    fc.double(),
    anyText,
    fc.array(tie('anyData'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...FIELDS), tie('anyData'), { maxKeys: 4 }),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 4 }),
  ),
}));
