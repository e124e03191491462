import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import { cutToBytes, onOneLine, printable } from '../../../shared/domain/printable.ts';

describe('text of others', () => {
  it.each([
    ['clears the screen', '\u001b[2Jgone', '\\u001b[2Jgone'],
    ['sets the title, as C1 too', '\u009d0;t\u0007', '\\u009d0;t\\u0007'],
    ['goes back to the start of the line', 'bad\rgood', 'bad\\u000dgood'],
    ['turns the order around', 'a\u202eb\u2066c\u200fd', 'a\\u202eb\\u2066c\\u200fd'],
    ['breaks lines as Unicode does', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['is harmless', 'déjà vu 🚀 "x" \\n', 'déjà vu 🚀 "x" \\n'],
    ['is a stack trace', 'Error\n\tat f', 'Error\n\tat f'],
  ])('that %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('has no line break on one line', () => {
    expect(onOneLine('a\n15:00:00\tb')).toBe('a\\n15:00:00\\tb');
  });

  it('never has a control character on one line, and is shown the same twice', () => {
    fc.assert(
      fc.property(anyText(), text => {
        const shown = onOneLine(text);
        expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(onOneLine(shown)).toBe(shown);
      }),
    );
  });

  it('is cut to bytes between characters', () => {
    expect(cutToBytes('short', 5)).toBe('short');
    expect(cutToBytes('拒拒拒', 8)).toBe('拒…');
    fc.assert(
      fc.property(anyText({ minLength: 500, maxLength: 2000 }), text => {
        const cut = cutToBytes(text, 1024);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
        const kept = cut.endsWith('…') && cut !== text ? cut.slice(0, -1) : cut;
        expect(text.toWellFormed().startsWith(kept)).toBe(true);
      }),
    );
  });
});
