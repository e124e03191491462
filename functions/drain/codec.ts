/** How the record of a node's drains is stored: checked by its schema, and cut to what fits into an item. */
import { parseJsonObject } from '../../shared/domain/json.ts';
import { checkedCodec, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { drainSchema, type DrainRecord } from './record.ts';
import { toFittingJson } from './record-size.ts';

const checked = checkedCodec<DrainRecord>('drain', drainSchema, 4);

export const DRAIN_CODEC: RecordCodec<DrainRecord> = {
  ...checked,
  toState: value => {
    const state = parseJsonObject(toFittingJson(value));
    checked.parse(state);
    return state;
  },
};
