import { describe, expect, it } from 'vitest';
import { wrapLines } from '../../cli/wrap.ts';

describe('long lines', () => {
  it('are broken between words on a terminal, what follows further in', () => {
    expect(wrapLines('  repair: due at three, by NodePool web\nok', 22)).toBe(
      '  repair: due at\n    three, by NodePool\n    web\nok',
    );
  });

  it('stay whole elsewhere, as do words', () => {
    const long = `a ${'b'.repeat(100)} c`;
    expect(wrapLines(long, undefined)).toBe(long);
    expect(wrapLines(long, 40)).toBe(`a\n  ${'b'.repeat(100)}\n  c`);
  });
});
