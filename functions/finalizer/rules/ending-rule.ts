/** The record of a rule that is being deleted: its timer alone. */
import * as z from '../../../shared/contract/zod.ts';
import type { RecordCodec } from '../../../shared/lifecycle/timed-record.ts';
import { checkedCodec } from '../checked-codec.ts';

const schema = z.object({});

export const RULE_CODEC: RecordCodec<z.output<typeof schema>> = checkedCodec(schema, 1);
