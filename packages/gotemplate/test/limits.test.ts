/** Templates that would use too much end in an error that says where. */
import { describe, expect, it } from 'vitest';
import { ExecError, LimitError, parse, ParseError, type TemplateOptions } from '../src/index.ts';

function failure(text: string, data?: unknown, options: TemplateOptions = {}): Error {
  try {
    parse('t', text, options).execute(data);
  } catch (error) {
    return error as Error;
  }
  throw new Error('no error');
}

const small = { limits: { steps: 1000, outputBytes: 1000 } };

describe('limits', () => {
  it.each([
    ['a range without end', '{{range 9223372036854775807}}{{end}}'],
    ['work in a range', '{{range 1000000000}}{{len (printf "%900d" 1)}}{{end}}'],
    ['comparing long strings', '{{$x := printf "%900d" 1}}{{range 1000000000}}{{if eq $x "1"}}{{end}}{{end}}'],
    ['searching many variables', '{{$x := 1}}' + '{{$y := 1}}'.repeat(300) + '{{range 1000000000}}{{$x = 2}}{{end}}'],
  ])('stop %s by its steps', (_, text) => {
    const error = failure(text, undefined, small);
    expect(error).toBeInstanceOf(LimitError);
    expect(error.message).toMatch(/^template: t:1:\d+: more than 1000 steps$/);
  });

  it.each([
    ['output', '{{range 200}}abcdefgh{{end}}'],
    ['one wide number', '{{printf "%1001d" 1}}'],
    ['precision', '{{printf "%.1001f" 1.0}}'],
    ['a string that doubles', '{{$x := "0123456789"}}{{range 20}}{{$x = print $x $x}}{{end}}'],
    ['hexadecimal', '{{printf "%x" (printf "%600d" 1)}}'],
  ])('stop %s at the size of the output', (_, text) => {
    const error = failure(text, undefined, small);
    expect(error).toBeInstanceOf(LimitError);
    expect(error.message).toMatch(/^template: t:1:\d+: more than 1000 bytes of output$/);
  });

  it('say where in the template', () => {
    expect(failure('a\n{{range 2000}}{{end}}', undefined, small)).toMatchObject({
      kind: 'limit',
      template: 't',
      line: 2,
      column: 8,
    });
  });

  it('refuse a template that is too long before reading it', () => {
    const error = failure('x'.repeat(101), undefined, { limits: { templateBytes: 100 } });
    expect(error).toBeInstanceOf(ParseError);
    expect(error.message).toBe('template: t: longer than 100 bytes');
  });

  it('end recursion with the error Go has, however deep that is', () => {
    expect(failure('{{template "t" .}}')).toBeInstanceOf(ExecError);
    expect(failure('{{template "t" .}}').message).toContain('exceeded maximum template depth (100000)');
    expect(failure('{{template "t" .}}', 1, { limits: { templateDepth: 10 } }).message).toContain(
      'template depth (10)',
    );
  });

  it('end with an error when data is too deep for the stack', () => {
    const deep: unknown = JSON.parse('['.repeat(4000) + ']'.repeat(4000));
    for (const text of ['{{.}}', '{{print .}}', '{{html .}}']) {
      expect(failure(text, deep)).toMatchObject({ kind: 'data' });
      expect(failure(text, deep, { limits: { dataDepth: Infinity } })).toHaveProperty(
        'kind',
        expect.stringMatching(/limit|data/),
      );
    }
    const allowed: unknown = JSON.parse('['.repeat(1000) + ']'.repeat(1000));
    expect(parse('t', '{{print .}}').execute(allowed)).toHaveLength(2000);
  });

  it('need no stack for nested text', () => {
    const nested = (open: string, close: string, times: number): string =>
      open.repeat(times) + '1' + close.repeat(times);
    expect(parse('t', `{{${nested('(', ')', 10_000)}}}`).execute()).toBe('1');
    expect(failure(`{{${nested('(', ')', 10_001)}}}`).message).toBe('template: t:1: max expression depth exceeded');
    expect(parse('t', nested('{{if 1}}', '{{end}}', 10_000)).execute()).toBe('1');
    expect(parse('t', nested('{{if 0}}{{else if 1}}', '{{end}}', 5000)).execute()).toBe('1');
  });
});
