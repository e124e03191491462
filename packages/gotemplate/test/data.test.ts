/** What JavaScript data is in Go, and what the API gives back. */
import { describe, expect, it } from 'vitest';
import {
  asString,
  DataError,
  ExecError,
  Float,
  INT32,
  mapOf,
  parse,
  ParseError,
  pointerTo,
  sliceOf,
  STRING,
  stringValue,
  structType,
  TIME,
  toGo,
} from '../src/index.ts';

const render = (text: string, data?: unknown): string => parse('t', text).execute(data);
const shown = (data: unknown): string => render('{{printf "%T %v" . .}}', data);

class Point {
  readonly x = 1;
  get secret(): string {
    return 'secret';
  }
}

describe('data', () => {
  it.each([
    [1, 'int64 1'],
    [1.5, 'float64 1.5'],
    [new Float(1), 'float64 1'],
    [-0, 'float64 -0'],
    [2 ** 53, 'float64 9.007199254740992e+15'],
    [2n ** 63n - 1n, 'int64 9223372036854775807'],
    [2n ** 63n, 'uint64 9223372036854775808'],
    ['é', 'string é'],
    [true, 'bool true'],
    [null, '<nil> <nil>'],
    [[1, null], '[]interface {} [1 <nil>]'],
    [{ b: 1, a: 'x' }, 'map[string]interface {} map[a:x b:1]'],
    [Object.assign(Object.create({ inherited: 1 }) as object, { own: 1 }), 'map[string]interface {} map[own:1]'],
    [new Uint8Array([1, 255]), '[]uint8 [1 255]'],
    [new Date(0), 'time.Time 1970-01-01 00:00:00 +0000 UTC'],
    ['\ud800', 'string \ufffd'],
  ])('%s is %s', (data, expected) => {
    expect(shown(data)).toBe(expected);
  });

  it('has what an object owns, not what its class gives', () => {
    expect(render('{{.x}} {{.secret}} {{.constructor}}', new Point())).toBe('1 <no value> <no value>');
  });

  it.each([
    [{ a: [1, Symbol('s')] }, '.a[1]', 'a symbol is not data'],
    [{ a: 2n ** 64n }, '.a', 'integer out of range'],
    [Object.defineProperty({}, 'x', { get: () => 1, enumerable: true }), '', 'property "x" is an accessor'],
  ])('refuses what is no data', (data, path, problem) => {
    const error = failure(() => render('', data));
    expect(error).toBeInstanceOf(DataError);
    expect(error).toMatchObject({ path, message: `template data: ${path || 'root'}: ${problem}` });
  });

  it('refuses a cycle', () => {
    const data: Record<string, unknown> = {};
    data['self'] = data;
    expect(() => render('', data)).toThrow('or a cycle');
  });
});

function failure(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('no error');
}

const POD = structType(
  'v1.Pod',
  { Name: STRING, Restarts: INT32, Labels: mapOf(STRING) },
  {
    Shout: { params: [STRING], call: (_, [end]) => stringValue('POD' + (end ? asString(end) : '')) },
    Fails: {
      params: [],
      call: () => {
        throw new Error('não');
      },
    },
  },
);
const LIST = structType('v1.List', { Items: sliceOf(pointerTo(POD)), Created: TIME });

describe('typed data', () => {
  const list = toGo({ Items: [{ Name: 'a', Labels: { k: 'v' } }, { Restarts: 3 }], Created: new Date(1000) }, LIST);

  it('has fields, zero values, methods and times', () => {
    const text =
      '{{range .Items}}{{.Name}}:{{.Restarts}}:{{.Labels.k}} {{end}}{{(index .Items 0).Shout "!"}} {{.Created.Unix}}';
    expect(render(text, list)).toBe('a:0:v :3:<no value> POD! 1');
  });

  it.each([
    [{ Itmes: [] }, 'template data: root: v1.List has no field "Itmes"'],
    [{ Items: [{ Restarts: 'x' }] }, 'template data: .Items[0].Restarts: a string is not a int32'],
    [{ Items: [{ Restarts: 2 ** 40 }] }, 'template data: .Items[0].Restarts: 1099511627776 does not fit a int32'],
    [{ Items: {} }, 'template data: .Items: a object is not a []*v1.Pod'],
  ])('refuses what the type does not have', (data, message) => {
    expect(() => toGo(data, LIST)).toThrow(message);
  });

  it('says what a method threw', () => {
    expect(() => render('{{(index .Items 0).Fails}}', list)).toThrow(
      'template: t:1:18: executing "t" at <(index .Items 0).Fails>: error calling Fails: não',
    );
  });
});

describe('the API', () => {
  it('gives the place of an error beside its message', () => {
    const parseError = failure(() => parse('t', 'a\n  {{if}}'));
    expect(parseError).toBeInstanceOf(ParseError);
    expect(parseError).toMatchObject({ kind: 'parse', template: 't', line: 2, column: 6 });
    const execError = failure(() => render('a\n {{.x}}', 'text'));
    expect(execError).toBeInstanceOf(ExecError);
    expect(execError).toMatchObject({ kind: 'exec', template: 't', line: 2, column: 3 });
  });

  it('takes functions and delimiters', () => {
    const functions = { upper: (text: unknown) => String(text).toUpperCase(), break: () => 'free' };
    const delims = { left: '<<', right: '>>' };
    expect(parse('t', '<<"é" | upper>> {{x}} <<break>>', { functions, delims }).execute()).toBe('É {{x}} free');
    expect(() => parse('t', '', { functions: { 'no name': () => 1 } })).toThrow('not a valid identifier');
  });

  it('calls functions in data', () => {
    expect(render('{{call .add 1 2}}', { add: (a: number, b: number) => a + b })).toBe('3');
  });

  it('executes any template of a set', () => {
    const template = parse('main', '{{define "b"}}B{{.}}{{end}}', { templates: { a: 'A{{template "b" .}}' } });
    expect(template.templates).toEqual(['a', 'b', 'main']);
    expect(template.executeTemplate('a', 1)).toBe('AB1');
    expect(() => template.executeTemplate('c')).toThrow('template: no template "c" associated with template "main"');
  });

  it('gives the exact bytes of output that is not UTF-8', () => {
    const template = parse('t', '{{"\\xff"}}');
    expect([...template.executeBytes()]).toEqual([0xff]);
    expect(template.execute()).toBe('\ufffd');
  });
});
