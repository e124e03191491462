/** Closes an entry of the ledger that a person has looked after (`curfew orphans --forget ID`). */
import type { FinalizerContext } from '../common/context.ts';
import * as z from '../../../shared/contract/zod.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import { TerminalError } from '../../../shared/errors.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { refusingNewer, openRecord, updateRecord, type TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { withoutEntries } from '../objects/ledger.ts';
import { entriesOf, LEDGER_CODEC, type LedgerEntry, type LedgerRecord } from '../objects/record.ts';
import { ORPHAN_CHECK } from './decide.ts';
import { ORPHAN_CODEC, type OrphanEntry } from './record.ts';
import { reportForgotten } from './report.ts';

const detailSchema = z.object({ id: z.string().check(z.regex(/^(instance|object)\/.+$/)) });

/** Forgets an entry. @param detail of the message. Throws `TerminalError` (`InvalidMessage`) for one without the id of an entry */
export async function forgetOrphan(
  context: FinalizerContext,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  const parsed = detailSchema.safeParse(detail);
  if (!parsed.success) {
    throw new TerminalError(
      'InvalidMessage',
      `detail of OrphanForgotten is not valid: ${z.prettifyError(parsed.error)}`,
    );
  }
  const { id } = parsed.data;
  const isInstance = id.startsWith('instance/');
  await (isInstance ? forgetInstance(context, id) : forgetObject(context, id));
}

/** Silences the entry of an instance. It stays while the instance is there: the next check would find it again. */
function forgetInstance(context: FinalizerContext, id: string): Promise<void> {
  return forget(context, id, openRecord(context.deps, ORPHAN_CODEC, id), {
    isOrphan: () => true,
    apply: async (timedRecord: TimedRecord<OrphanEntry>, value, subject) =>
      timedRecord.save({
        subject,
        value: { ...value, forgotten: true },
        wakeTime: addDuration(context.deps.clock.now(), ORPHAN_CHECK),
      }),
  });
}

/** Forgets the orphaned entries of an object; entries of other FinalizerRules go on. */
function forgetObject(context: FinalizerContext, id: string): Promise<void> {
  const { clock } = context.deps;
  const isOrphan = ({ phase }: LedgerEntry): boolean => phase === 'orphaned';
  return forget(context, id, openRecord(context.deps, LEDGER_CODEC, id), {
    isOrphan: (value: LedgerRecord) => entriesOf(value).some(isOrphan),
    apply: async (timedRecord: TimedRecord<LedgerRecord>, value, subject) => {
      const remainingRecord = withoutEntries(value, isOrphan, clock.now());
      return remainingRecord === undefined
        ? timedRecord.closeNow()
        : timedRecord.save({ subject, value: remainingRecord, wakeTime: clock.now() });
    },
  });
}

interface EntryKind<Value> {
  readonly isOrphan: (value: Value) => boolean;
  readonly apply: (timedRecord: TimedRecord<Value>, value: Value, subject: Subject) => Promise<Turn>;
}

async function forget<Value>(
  { reporter }: FinalizerContext,
  id: string,
  timedRecord: TimedRecord<Value>,
  { isOrphan, apply }: EntryKind<Value>,
): Promise<void> {
  let forgotten: Subject | undefined;
  const what = `entry ${id} of the ledger`;
  await updateRecord(what, refusingNewer(timedRecord, what), async loaded => {
    if (loaded.kind !== 'known' || !isOrphan(loaded.value)) return DONE;
    const { subject } = loaded.stored;
    const turn = await apply(timedRecord, loaded.value, subject);
    if (turn.kind === 'done') forgotten = subject;
    return turn;
  });
  await reportForgotten(reporter, id, forgotten);
}
