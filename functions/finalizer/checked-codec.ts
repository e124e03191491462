/** How a value is written down as its schema has it. */
import type * as z from '../../shared/contract/zod.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';

/** The codec of a record of this function: checked before each write and after each read. */
export function checkedCodec<Value>(schema: z.ZodMiniType<Value>, schemaVersion: number): RecordCodec<Value> {
  return {
    owner: 'finalizer',
    schemaVersion,
    parse: state => schema.parse(state),
    toState(value) {
      schema.parse(value);
      // JSON carries no undefined.
      return JSON.parse(JSON.stringify(value));
    },
  };
}
