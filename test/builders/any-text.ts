/** Text of any characters. */
import fc from 'fast-check';

/** Any code point but half a surrogate pair. */
const character = fc.nat(0x10_f7_ff).map(index => String.fromCodePoint(index < 0xd8_00 ? index : index + 0x08_00));

/**
 * As `fc.string({ unit: 'binary' })`, which spends a second and 200 MB on a table of all code points before it makes the first text.
 * Lengths count characters. One text in five is ASCII, with names such as `__proto__` in it.
 */
export const anyText = (lengths: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.array(character, lengths).map(characters => characters.join('')) },
    { weight: 1, arbitrary: fc.string(lengths) },
  );
