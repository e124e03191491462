/** Input as somebody makes it who wants a parser to fail: valid samples with a few mistakes in them, and rubbish. */
import fc from 'fast-check';
import { anyText } from '../builders/any-text.ts';

/** Cases per parser. */
export const RUNS = 10_000;

/** Runs a property `RUNS` times. A crash is a failure; so is a hang, by the time limit of the test. */
export function assertEach<Input>(inputs: fc.Arbitrary<Input>, holds: (input: Input) => void, runs = RUNS): void {
  const property = fc.property(inputs, input => {
    holds(input);
  });
  fc.assert(property, { numRuns: runs });
}

const NAMES = ['__proto__', 'constructor', 'toString', 'length', '', ' ', '\u0000', '\ud800', 'é', 'a'.repeat(300)];
const NUMBERS = [0, -0, -1, 0.5, 1e21, 2 ** 53, -(2 ** 63), 8.64e15 + 1, Number.MAX_VALUE, 5e-324];
const TIMES = ['2024-02-30T00:00:00Z', '9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z', '2562047h47m16.854775807s'];

const name = fc.constantFrom(...NAMES);
const rubbish = anyText({ maxLength: 60 });

/** A value where something else is expected. */
const scalar: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, ...NUMBERS),
  fc.constantFrom(...NAMES, ...TIMES),
  rubbish,
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.tuple(name, scalar).map(([key, one]) => Object.fromEntries([[key, one]])) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      nested(64),
      Array.from({ length: 300 }, () => ({})),
    ),
  },
);

function nested(depth: number): unknown {
  return JSON.parse('[{"a":'.repeat(depth) + '1' + '}]'.repeat(depth));
}

/** Text: samples with pieces of one another and `tokens` in the wrong place, or rubbish. */
export function hostileText(samples: readonly string[], tokens: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...tokens) },
    { weight: 1, arbitrary: rubbish },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...tokens), fc.nat(200)).map(([token, times]) => token.repeat(times)),
    },
  );
  const edit = fc.record({ at: fc.nat(), removed: fc.nat(12), inserted: piece });
  const edited = fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: 3 }))
    .map(([sample, edits]) => edits.reduce(applyEdit, sample));
  return fc.oneof(
    { weight: 6, arbitrary: edited },
    { weight: 2, arbitrary: fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join('')) },
    { weight: 1, arbitrary: rubbish },
  );
}

function applyEdit(text: string, edit: { at: number; removed: number; inserted: string }): string {
  const at = edit.at % (text.length + 1);
  return text.slice(0, at) + edit.inserted + text.slice(at + edit.removed);
}

interface Change {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly key: string;
  readonly value: unknown;
}

/** JSON: samples in which values are replaced, removed or added at any depth, or rubbish. */
export function hostileJson(samples: readonly unknown[]): fc.Arbitrary<unknown> {
  const change: fc.Arbitrary<Change> = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('replace', 'replace', 'remove', 'add'),
    key: name,
    value,
  });
  const texts = samples.map(sample => JSON.stringify(sample));
  const changed = fc.tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 3 })).map(([text, changes]) => {
    const box: { root: unknown } = { root: JSON.parse(text) };
    // One change may go into what another has put in.
    for (const one of changes) applyChange(box, isFields(one.value) ? { ...one, value: asJson(one.value) } : one);
    return changes.length === 0 ? box.root : asJson(box.root);
  });
  return fc.oneof({ weight: 9, arbitrary: changed }, { weight: 1, arbitrary: value.map(asJson) });
}

/** As it comes off the wire: a list has no names, and what is absent is gone. */
const asJson = (part: unknown): unknown => JSON.parse(JSON.stringify(part) ?? 'null');

type Fields = Record<string, unknown>;
const isFields = (part: unknown): part is Fields => typeof part === 'object' && part !== null;

function applyChange(box: { root: unknown }, { at, how, key, value: replacement }: Change): void {
  const places: { holder: Fields; key: string }[] = [];
  const visit = (holder: Fields): void => {
    for (const each of Object.keys(holder)) {
      places.push({ holder, key: each });
      const part = holder[each];
      if (isFields(part) && places.length < 500) visit(part);
    }
  };
  visit(box);
  const place = places[at % places.length];
  if (place === undefined) return;
  if (how === 'remove') delete place.holder[place.key];
  else if (how === 'replace') define(place.holder, place.key, replacement);
  else {
    const target = place.holder[place.key];
    const holder = isFields(target) ? target : place.holder;
    if (Array.isArray(holder)) holder.push(replacement);
    else define(holder, key, replacement);
  }
}

/** `__proto__` is a key like any other, as `JSON.parse` makes it. */
function define(holder: Fields, key: string, replacement: unknown): void {
  Object.defineProperty(holder, key, { value: replacement, enumerable: true, writable: true, configurable: true });
}
