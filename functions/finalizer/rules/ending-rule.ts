/** The record of a rule that is being deleted: its timer alone. */
import * as z from '../../../shared/contract/zod.ts';
import type { RecordCodec } from '../../../shared/lifecycle/timed-record.ts';

const schema = z.object({});
export type EndingRule = z.output<typeof schema>;

export const RULE_CODEC: RecordCodec<EndingRule> = {
  owner: 'finalizer',
  schemaVersion: 1,
  parse: state => schema.parse(state),
  toState: value => schema.parse(value),
};
