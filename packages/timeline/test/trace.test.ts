/** The trace format: what a change is, what a reader takes, and what it says of what it cannot use. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeOf, withChange } from '../src/trace/merge-patch.ts';
import { readTrace } from '../src/trace/read.ts';

const t = '2024-11-01T15:00:00.000Z';
const HEADER = { t, kind: 'trace', version: 1, source: 'simulation', name: 'day', start: t, end: t };
const AUDIT = {
  t,
  kind: 'audit',
  function: 'repair',
  decision: 'blocked',
  reason: 'ZoneOutage',
  message: '7 of 7',
  name: 'web-0',
  about: { kind: 'Node', name: 'web-0' },
};
const END = { t, kind: 'end', problems: [] };
const text = (...lines: unknown[]): string[] =>
  lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line)));

describe('a change of an object', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'metadata');
  const { object } = fc.letrec<{ object: Record<string, unknown>; value: unknown }>(tie => ({
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    value: fc.oneof({ depthSize: 'small' }, fc.constantFrom(1, 'x', true, [], [null], ['a', { b: 1 }]), tie('object')),
  }));

  it('turns one into the next, whatever they are', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const change = changeOf(before, after);
        expect(change).toBeDefined();
        expect(withChange(before, change ?? {})).toEqual(after);
      }),
    );
  });

  it('is empty when nothing changed, and cannot say a null', () => {
    expect(changeOf({ a: { b: [1] } }, { a: { b: [1] } })).toEqual({});
    expect(changeOf({}, { a: { b: null } })).toBeUndefined();
  });
});

describe('a reader of traces', () => {
  it('takes the lines of a trace, with fields that it does not know', async () => {
    const read = await readTrace(text(HEADER, { ...AUDIT, later: 1 }, END));
    expect(read.lines.map(({ kind }) => kind)).toEqual(['trace', 'audit', 'end']);
    expect(read).toMatchObject({ header: { name: 'day' }, leftOut: 0 });
  });

  it('leaves lines of others out, counts them and names the first', async () => {
    const read = await readTrace(
      text(AUDIT, 'START RequestId: 1', { level: 'INFO' }, { kind: 'audit', t: 'yesterday' }, ''),
    );
    expect(read).toMatchObject({ leftOut: 3, firstLeftOut: { number: 2, why: 'it is no JSON' } });
    expect(read.lines).toHaveLength(1);
  });

  it.each([
    ['another version', text({ ...HEADER, version: 2 }, END), 'trace of version 2, and this curfew reads version 1'],
    ['half a file', text(HEADER, AUDIT, '{"t":"2024-11-0'), 'cut off: its last line, of kind end, is missing'],
    ['two runs', text(HEADER, END, HEADER, END), 'line 3 begins a second trace'],
    ['something else', text('hello', 'world'), 'no line of a trace or an audit log: line 1: it is no JSON'],
    ['nothing', [], 'it is empty'],
  ])('says what is wrong with %s', async (_, lines, message) => {
    await expect(readTrace(lines)).rejects.toThrow(message);
  });
});
