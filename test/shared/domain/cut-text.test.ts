import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, MAX_TEXT_OF_OTHERS, quoteCut } from '../../../shared/domain/cut-text.ts';

describe('a text of others', () => {
  it('stays as it is up to the limit, and is cut visibly beyond it', () => {
    expect(cutText('a'.repeat(MAX_TEXT_OF_OTHERS))).toBe('a'.repeat(MAX_TEXT_OF_OTHERS));
    expect(cutText('abcdef', 4)).toBe('abc…');
    expect(quoteCut('say "no"', 80)).toBe('"say \\"no\\""');
  });

  it('is never cut within a character', () => {
    expect(cutText('ab😀cd', 4)).toBe('ab…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(50), (text, max) => {
        const cut = cutText(text, max + 1);
        expect(cut.length).toBeLessThanOrEqual(max + 1);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});
