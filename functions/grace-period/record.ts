/** What the grace-period function remembers about one node, beside its timer: which Events were recorded, and which changes failed. */
import { effortSchema } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { fieldsOf } from '../../shared/domain/json.ts';
import { checkedCodec, storedUnder, type RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';

export const OWNER = 'grace-period';

const schema = z.pipe(
  z.transform(withoutOldRefusal),
  z.object({
    /** By UID of the Pod or Node and by topic: what was announced last, e.g. the expiry. Something else is announced again. */
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

/** In version 1 an effort could be about a refusal. What is to be tried again is found out by trying. */
function withoutOldRefusal(state: unknown): unknown {
  const { effort, ...fields } = fieldsOf(state);
  return fieldsOf(effort)['kind'] === 'refused' ? fields : state;
}

/** The record of one node, by UID (I10). */
export const recordIdOf = (uid: string): string => `node/${uid}`;
