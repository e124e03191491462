/** What `range` goes over. */
import { formatText } from '../fmt/sprintf.ts';
import { type Bytes } from '../text/bytes.ts';
import { isInt, isUint } from '../types/type.ts';
import { asInteger, asMap, asSlice, intValue, itemAt, sortedKeys, stringValue, Value } from '../types/value.ts';
import type { State } from './state.ts';

/** Index or key (none over a number), and element. */
export type Iteration = readonly [index: Value | undefined, elem: Value | undefined];

/** A value as `%v` shows it in a message. */
function shown(value: Value | undefined): Value {
  return stringValue(value === undefined ? '<invalid reflect.Value>' : formatText('%v', [value]));
}

/** The iterations over `value`, one at a time; errors are Go's. `variables`: how many the range declares or assigns. */
export function* iterate(state: State, value: Value | undefined, variables: number): Generator<Iteration, undefined> {
  if (value === undefined) return;
  const { kind } = value.type;
  if (isInt(kind) || isUint(kind)) {
    if (variables > 1) state.fail("can't use %v to iterate over more than one variable", shown(value));
    for (let i = 0n; i < asInteger(value); i++) yield [undefined, new Value(value.type, i)];
  } else if (kind === 'slice') {
    const slice = asSlice(value);
    for (let i = 0; i < (slice?.length ?? 0); i++) yield [intValue(i), itemAt(slice!, i)];
  } else if (kind === 'map') {
    const map = asMap(value) ?? new Map<Bytes, Value>();
    state.execution.budget.spend(map.size);
    for (const key of sortedKeys(map)) yield [stringValue(key), map.get(key)];
  } else {
    state.fail("range can't iterate over %v", shown(value));
  }
}
