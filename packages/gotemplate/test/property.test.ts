/** A template is a stranger's program and data a stranger's data: nothing may crash, hang or leave its bounds. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Float, type MissingKey, parse, references, TemplateError } from '../src/index.ts';
import { anyData, anyTemplate, anyText, FIELDS } from './generate.ts';

const LIMITS = { steps: 5_000, outputBytes: 20_000, templateDepth: 100 };

type Outcome = { readonly output: string } | { readonly error: TemplateError };

/** Anything but the package's own errors escapes and fails the test. */
function render(text: string, data: unknown, missingkey: MissingKey = 'default'): Outcome {
  try {
    const template = parse('t', text, { limits: LIMITS, missingkey });
    references(template);
    return { output: template.execute(data) };
  } catch (error) {
    if (error instanceof TemplateError) return { error };
    throw error;
  }
}

const MARKER = 'reached-a-prototype';
const PROTOTYPES: readonly object[] = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Function.prototype,
];
const INHERITED = ['a', 'b', 'list', 'é'];

/** Runs `action` while every object inherits properties under the names that templates ask for. */
function whileInherited<T>(action: () => T): T {
  const property = { value: MARKER, configurable: true, enumerable: true, writable: true };
  for (const prototype of PROTOTYPES) for (const name of INHERITED) Object.defineProperty(prototype, name, property);
  try {
    return action();
  } finally {
    for (const prototype of PROTOTYPES) for (const name of INHERITED) Reflect.deleteProperty(prototype, name);
  }
}

const missingkey = fc.constantFrom<MissingKey>('default', 'zero', 'error');

describe('any template with any data', () => {
  it('gives an output within its limit or a TemplateError, the same each time', () => {
    fc.assert(
      fc.property(anyTemplate, anyData, missingkey, (text, data, option) => {
        const outcome = render(text, data, option);
        if ('error' in outcome) {
          expect(outcome.error.message).toMatch(/^template/);
          if (outcome.error.kind === 'parse') expect(outcome.error.line).toBeGreaterThan(0);
          return;
        }
        // A byte that is not UTF-8 becomes a character of three bytes.
        expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(LIMITS.outputBytes * 3);
        expect(render(text, data, option)).toEqual(outcome);
      }),
      { numRuns: 10_000 },
    );
  });

  it('sees no inherited property', () => {
    fc.assert(
      fc.property(anyTemplate, anyData, missingkey, (text, data, option) => {
        const plain = render(text, data, option);
        expect(whileInherited(() => render(text, data, option))).toEqual(plain);
        if ('output' in plain) expect(plain.output).not.toContain(MARKER);
      }),
      { numRuns: 300 },
    );
  });
});

describe('what JavaScript objects inherit', () => {
  it('is not there for a template', () => {
    const inherited = fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype));
    fc.assert(
      fc.property(inherited, fc.constantFrom(...FIELDS), (name, next) => {
        expect(render(`{{.${name}}} {{.x.${name}.${next}}} {{index . "${name}"}}`, { x: {} })).toEqual({
          output: '<no value> <no value> <no value>',
        });
      }),
    );
  });
});

describe('values', () => {
  it('print a string as it is, and its quoted form reads back', () => {
    fc.assert(
      fc.property(anyText, value => {
        expect(render('{{.}}', value)).toEqual({ output: value });
        const quoted = render('{{printf "%q" .}}', value) as { output: string };
        expect(render(`{{${quoted.output}}}`, null)).toEqual({ output: value });
        const ascii = render('{{printf "%+q" .}}', value) as { output: string };
        expect(ascii.output).toMatch(/^[ -~]*$/);
        expect(render(`{{${ascii.output}}}`, null)).toEqual({ output: value });
      }),
    );
  });

  it('count strings in bytes of UTF-8', () => {
    fc.assert(
      fc.property(anyText, value => {
        expect(render('{{len .}}', value)).toEqual({ output: String(new TextEncoder().encode(value).length) });
      }),
    );
  });

  it('print int64 exactly, in every base', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), n => {
        const expected = [10, 16, 8, 2].map(base => n.toString(base)).join(' ');
        expect(render('{{printf "%d %x %o %b" . . . .}}', n)).toEqual({ output: expected });
      }),
    );
  });

  it('print a float so that it reads back the same', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), x => {
        const show = (verb: string): string => {
          const outcome = render(`{{printf "${verb}" .}}`, new Float(x));
          return 'output' in outcome ? outcome.output : outcome.error.message;
        };
        expect(Number(show('%v'))).toBe(x);
        expect(Number(show('%.17g'))).toBe(x);
        expect(render(`{{printf "%v" ${show('%x')}}}`, null)).toEqual({ output: show('%v') });
      }),
    );
  });

  it('range over a map in the order of its keys as bytes', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.constant(1)), data => {
        const sorted = Object.keys(data).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(render('{{range $k, $v := .}}{{$k}}|{{end}}', data)).toEqual({
          output: sorted.map(key => key + '|').join(''),
        });
      }),
    );
  });

  it('leave text without delimiters alone', () => {
    fc.assert(
      fc.property(
        anyText.filter(value => !value.includes('{{')),
        value => {
          expect(render(value, null)).toEqual({ output: value });
        },
      ),
    );
  });
});
