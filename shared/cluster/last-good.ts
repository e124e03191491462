import type { ParseResult } from '../contract/policy-schema.ts';
import type { LoadedRecord } from '../lifecycle/record-codec.ts';

/** The last settings that could be read: they stay in force while the current ones cannot, for new acts too. Undefined: none, or a newer Curfew's. */
export const lastGood = <Kept, Value>(
  record: LoadedRecord<Kept>,
  parse: (kept: Kept) => ParseResult<Value>,
): Value | undefined => {
  const read = record.kind === 'known' ? parse(record.value) : undefined;
  return read?.ok === true ? read.value : undefined;
};
