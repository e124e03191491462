import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventPatternError } from '../src/event-pattern-error.ts';
import { compileEventPattern } from '../src/event-pattern.ts';

const name = fc.constantFrom('a', 'b', 'c', '$or', 'source');
const scalar = fc.oneof(
  fc.constantFrom('x', 'xy', 'y', ''),
  fc.integer({ min: -3, max: 3 }),
  fc.boolean(),
  fc.constant(null),
);
const { event } = fc.letrec<{ event: Record<string, unknown>; value: unknown }>(tie => ({
  event: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('event')),
}));
const operator = fc.oneof(
  scalar,
  fc.record({ prefix: fc.string({ maxLength: 2 }) }),
  fc.record({ exists: fc.boolean() }),
  fc.record({ 'anything-but': fc.constantFrom<unknown>('x', ['x', 'y'], 1) }),
);
const leaf = fc.array(operator, { minLength: 1, maxLength: 3 });
const { pattern } = fc.letrec<{ pattern: Record<string, unknown> }>(tie => ({
  pattern: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof({ maxDepth: 3 }, leaf, tie('pattern')), {
    minKeys: 1,
    maxKeys: 3,
  }),
}));

function outcomeOf(anyPattern: unknown, anyEvent: unknown): string {
  try {
    const matched: unknown = compileEventPattern(anyPattern)(anyEvent);
    return matched === true ? 'match' : matched === false ? 'no match' : 'no answer';
  } catch (error) {
    return error instanceof EventPatternError ? 'refused' : 'crash';
  }
}

describe('event pattern', () => {
  it('is either compiled, and then answers about any event, or refused as an event pattern', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (anyPattern, anyEvent) => {
        expect(['match', 'no match', 'refused']).toContain(outcomeOf(anyPattern, anyEvent));
      }),
    );
  });

  it('never matches more when a field is added', () => {
    fc.assert(
      fc.property(event, pattern, leaf, (anEvent, aPattern, added) => {
        fc.pre(!('source' in aPattern));
        const narrower = compileEventPattern({ ...aPattern, source: added })(anEvent);
        expect(narrower && !compileEventPattern(aPattern)(anEvent)).toBe(false);
      }),
    );
  });

  it('never matches less when an alternative is added to a field', () => {
    fc.assert(
      fc.property(event, leaf, operator, (anEvent, alternatives, added) => {
        const before = compileEventPattern({ a: alternatives })(anEvent);
        const after = compileEventPattern({ a: [...alternatives, added] })(anEvent);
        expect(before && !after).toBe(false);
      }),
    );
  });

  it('matches by $or what matches by any of its alternatives', () => {
    fc.assert(
      fc.property(event, pattern, pattern, (anEvent, one, other) => {
        const either = compileEventPattern(one)(anEvent) || compileEventPattern(other)(anEvent);
        expect(compileEventPattern({ $or: [one, other] })(anEvent)).toBe(either);
      }),
    );
  });

  it('matches by anything-but exactly the existing scalars that it does not match without', () => {
    fc.assert(
      fc.property(scalar, fc.constantFrom('x', 'xy', 'y'), (value, word) => {
        const but = compileEventPattern({ a: [{ 'anything-but': { prefix: word } }] })({ a: value });
        expect(but).toBe(!compileEventPattern({ a: [{ prefix: word }] })({ a: value }));
      }),
    );
  });

  it('matches wildcards as a regular expression would', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    fc.assert(
      fc.property(word, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (wildcard, text) => {
        fc.pre(!wildcard.includes('**'));
        const expected = new RegExp(`^${wildcard.replaceAll('*', '.*')}$`).test(text);
        expect(compileEventPattern({ a: [{ wildcard }] })({ a: text })).toBe(expected);
      }),
    );
  });
});
