import type { Parsed } from '../contract/policy-schema.ts';
import type { Held } from './record-codec.ts';

/** Of settings that cannot be read now: the last version that could be stays in force, for new acts too. undefined: none, or a newer Curfew's. */
export const lastGood = <Kept, Value>(record: Held<Kept>, parse: (kept: Kept) => Parsed<Value>): Value | undefined => {
  const read = record.kind === 'held' ? parse(record.value) : undefined;
  return read?.ok === true ? read.value : undefined;
};
