/** The record of one node, beside its timer: which Events were recorded, and which changes failed. */
import { effortSchema } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { fieldsOf } from '../../shared/domain/json.ts';
import { checkedCodec, storedUnder, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';

export const OWNER = 'grace-period';

const schema = z.pipe(
  z.transform(withoutOldRefusal),
  z.object({
    /** The last announcement by UID of the Pod or Node and by topic, e.g. the expiry. Something else is announced again. */
    announcedKeys: z.record(z.string(), z.record(z.string(), z.string())),
    /** Somebody keeps removing the annotation: the next time it is put back waits longer. */
    effort: z.exactOptional(effortSchema),
    /** Changes of the Node that the API server refuses, by kind. */
    refusals: z.exactOptional(refusalsSchema),
  }),
);

export type GracePeriodRecord = z.output<typeof schema>;

export const GRACE_PERIOD_CODEC: RecordCodec<GracePeriodRecord> = storedUnder(
  { announcedKeys: 'announced' },
  checkedCodec(OWNER, schema, 2),
);

/** Drops an effort about a refusal, as version 1 could have. Whether a change succeeds now is found out by trying. */
function withoutOldRefusal(state: unknown): unknown {
  const { effort, ...fields } = fieldsOf(state);
  return fieldsOf(effort)['kind'] === 'refused' ? fields : state;
}

/** The record of one node, by UID (I10). */
export const recordIdOf = (uid: string): string => `node/${uid}`;
