import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBothSelect, selects, type LabelSelector } from '../../../shared/domain/label-selector.ts';

describe('a label that is not there', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('does not exist, be it called %s', key => {
    const expression = (operator: 'Exists' | 'DoesNotExist') => ({ matchExpressions: [{ key, operator }] });
    expect(selects(expression('Exists'), {})).toBe(false);
    expect(selects(expression('DoesNotExist'), {})).toBe(true);
    expect(selects(expression('Exists'), JSON.parse(`{ ${JSON.stringify(key)}: "a" }`) as Record<string, string>)).toBe(
      true,
    );
  });
});

describe('two selectors', () => {
  it('that name different values of one label never select the same', () => {
    expect(canBothSelect({ matchLabels: { team: 'a' } }, { matchLabels: { team: 'b' } })).toBe(false);
    expect(canBothSelect({ matchLabels: { team: 'a' } }, { matchLabels: { zone: 'b' } })).toBe(true);
  });

  it('can both select exactly when some labels are selected by both', () => {
    const key = fc.constantFrom('a', 'constructor');
    const values = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 2 });
    const expression = fc.oneof(
      fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values }),
      fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
    );
    const selector: fc.Arbitrary<LabelSelector> = fc.record({
      matchLabels: fc.dictionary(key, fc.constantFrom('x', 'y'), { maxKeys: 1 }),
      matchExpressions: fc.array(expression, { maxLength: 3 }),
    });
    // `other` stands for every value that no selector names.
    const each = [undefined, 'x', 'y', 'z', 'other'];
    const worlds = each.flatMap(a =>
      each.map(b => ({ ...(a !== undefined && { a }), ...(b !== undefined && { constructor: b }) })),
    ) as readonly Record<string, string>[];
    fc.assert(
      fc.property(selector, selector, (one, two) => {
        expect(canBothSelect(one, two)).toBe(worlds.some(labels => selects(one, labels) && selects(two, labels)));
      }),
      { numRuns: 2_000 },
    );
  });
});
