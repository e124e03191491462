/** The record of a FinalizerRule that is being deleted, or of which a change was refused: until then its timer, and what must not be lost. */
import { OWNER, type FinalizerDeps } from '../common/context.ts';
import { kindWatchSchema, type KindWatch } from '../../../shared/contract/cluster-event.ts';
import * as z from '../../../shared/contract/zod.ts';
import { parseTimestamp } from '../../../shared/domain/time.ts';
import { checkedCodec, type RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';
import { openRecord, openRecords, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';

const schema = z.object({
  /** Refused changes of the FinalizerRule. Older records have the text alone, as `refused`. */
  refusals: z.exactOptional(refusalsSchema),
  /** State of the forwarder's watch of the kind, which the status cannot show yet: nobody repeats it. */
  watch: z.exactOptional(kindWatchSchema),
});

export type FinalizerRuleRecord = z.output<typeof schema>;

export const FINALIZER_RULE_CODEC: RecordCodec<FinalizerRuleRecord> = checkedCodec(OWNER, schema, 1);

const idOf = (uid: string): string => `rule/${uid}`;

/** The records of one run, by UID of the FinalizerRule. @param wakeUp the one that the run is about */
export function openFinalizerRuleRecords(
  deps: FinalizerDeps,
  wakeUp: UsedWakeUp | undefined,
): (uid: string) => TimedRecord<FinalizerRuleRecord> {
  const records = openRecords(deps, FINALIZER_RULE_CODEC, wakeUp);
  return uid => records(idOf(uid));
}

/** Key under which the record remembers that the FinalizerRule's own finalizer could not be put on. */
export const OWN_FINALIZER = 'keep';

/** Whether the FinalizerRule could not get a finalizer of its own: its objects do not wait for it. */
export async function isOwnFinalizerRefused(deps: FinalizerDeps, uid: string): Promise<boolean> {
  const loaded = await openRecord(deps, FINALIZER_RULE_CODEC, idOf(uid)).load();
  return loaded.kind === 'known' && loaded.value.refusals?.[OWN_FINALIZER] !== undefined;
}

/** Forgets a FinalizerRule that is gone. */
export async function closeFinalizerRuleRecord(timedRecord: TimedRecord<FinalizerRuleRecord>): Promise<void> {
  if ((await timedRecord.load()).kind === 'known') await timedRecord.closeNow();
}

/** Whether the forwarder found this after the known watch, or at the same instant; a time that cannot be read keeps nothing back. */
export function isLater({ since }: Pick<KindWatch, 'since'>, before: Pick<KindWatch, 'since'>): boolean {
  const [reported, stored] = [parseTimestamp(since), parseTimestamp(before.since)];
  return reported === undefined || stored === undefined || reported >= stored;
}
