/**
 * Ledger entries of an object without a FinalizerRule that could clean up: it is gone, or cannot be read. Nothing is taken off the object. An Event
 * says so on it once a day, and once when it is being deleted. Only a person releases it, or the FinalizerRule comes back.
 */
import type { FinalizerContext, FinalizerDeps } from '../common/context.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../../shared/contract/subject.ts';
import { type KubernetesObject, parseApiVersion } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, type EpochMs, hours, isReportDue, minutes } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { DONE, PROGRESSED, type Turn } from '../../../shared/lifecycle/settle.ts';
import { type TimedRecord, updateRecord } from '../../../shared/lifecycle/timed-record.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import { isReportedOrphan } from './rule/entry.ts';
import { LEDGER_CHECK } from './decide.ts';
import { objectOrNotServed } from '../../../shared/custom-resource/not-served.ts';
import { awaitsAnswer } from './clean-up.ts';
import type { WorkerAnswer } from './context.ts';
import { asReported, TAKE_OVER_AFTER } from './ledger.ts';
import type { LedgerEntry } from './record.ts';

interface KeptEntry {
  readonly subject: Subject;
  readonly timedRecord: TimedRecord<LedgerEntry>;
  readonly rule: string;
  /** Reason why nothing cleans up; undefined: only its kind is not served now, which the FinalizerRule says. */
  readonly because: string | undefined;
}

/** Time between two looks: nobody watches a kind without a FinalizerRule (I5). */
const CHECK = minutes(5);
const ONCE_A_DAY = hours(24);

/** Keeps the entry, so that nothing of it is lost: finished work of a worker counts once a FinalizerRule is there again. */
export async function keepEntryWithoutFinalizerRule(
  context: FinalizerContext,
  kept: KeptEntry,
  answer: WorkerAnswer | undefined,
): Promise<void> {
  const { subject, timedRecord, rule, because } = kept;
  const { deps } = context;
  await updateRecord(`${subject.kind} ${subject.name}`, timedRecord, async (loaded): Promise<Turn> => {
    if (loaded.kind !== 'known') return DONE;
    const time = deps.clock.now();
    const isDone = answer?.kind === 'succeeded' && answer.rule === rule && awaitsAnswer(loaded.value, answer);
    const entry = isDone ? ({ ...loaded.value, phase: 'cleaned', time } as const) : loaded.value;
    if (because === undefined || isReportedOrphan(entry)) {
      return timedRecord.save({
        subject: loaded.stored.subject,
        value: entry,
        wakeTime: addDuration(time, LEDGER_CHECK),
      });
    }
    return keepEntry(context, { ...kept, subject: loaded.stored.subject, because }, entry, time);
  });
}

type EntryWithoutFinalizerRule = KeptEntry & { readonly because: string };

async function keepEntry(
  context: FinalizerContext,
  kept: EntryWithoutFinalizerRule,
  entry: LedgerEntry,
  now: EpochMs,
): Promise<Turn> {
  const { timedRecord, subject } = kept;
  const object = await readObject(context.deps, subject);
  const hasFinalizer = object !== 'notKnown' && object?.metadata.finalizers?.includes(entry.finalizerName) === true;
  if (object !== 'notKnown' && !hasFinalizer) return endEntry(context, kept, entry, object);
  const isDeleting = object !== 'notKnown' && object?.metadata.deletionTimestamp !== undefined;
  const lastReport = entry.withoutRule;
  const isNew = (isDeleting && lastReport?.deleting === false) || isReportDue(now, lastReport?.saidTime, ONCE_A_DAY);
  // Said first: a run that dies in between says it again (I9).
  if (isNew) await reportWithoutFinalizerRule(context.reporter, kept, entry, isDeleting);
  const value = isNew ? { ...entry, withoutRule: { saidTime: now, deleting: isDeleting } } : entry;
  return timedRecord.save({ subject, value, wakeTime: addDuration(now, CHECK) });
}

/** The object as it is; `notKnown` where it cannot be read, as without the rights that went with the FinalizerRule. */
async function readObject(
  { kubernetes }: Pick<FinalizerDeps, 'kubernetes'>,
  { apiVersion, kind, namespace, name, uid }: Subject,
): Promise<KubernetesObject | undefined | 'notKnown'> {
  const asked = { ...parseApiVersion(apiVersion), kind };
  const type = await kubernetes.resolve(asked);
  if (type === undefined) return 'notKnown';
  const answer = await orUnavailable(kubernetes.get({ type, name, ...(namespace !== undefined && { namespace }) }));
  if (answer.kind === 'unavailable') return 'notKnown';
  const live = await objectOrNotServed({ kubernetes }, answer, asked);
  if (live === 'notServed') return 'notKnown';
  return live?.metadata.uid === uid ? live : undefined;
}

/** Closes the entry, or marks it as an orphan, when the finalizer is off: a person took it, or the object is gone. */
async function endEntry(
  { reporter, deps }: FinalizerContext,
  { timedRecord, subject, rule, because }: EntryWithoutFinalizerRule,
  entry: LedgerEntry,
  object: KubernetesObject | undefined,
): Promise<Turn> {
  const lives = object !== undefined && object.metadata.deletionTimestamp === undefined;
  if (lives || entry.phase === 'cleaned') return timedRecord.closeNow();
  const now = deps.clock.now();
  if (entry.phase !== 'orphaned') {
    // Written first: a report is not repeated while nothing can be written (I11).
    const message = `it went without its clean-up: ${because}`;
    const value = { ...entry, phase: 'orphaned', time: now, message, unreported: true } as const;
    const saved = await timedRecord.save({ subject, value, wakeTime: addDuration(now, TAKE_OVER_AFTER) });
    return saved.written ? PROGRESSED : saved;
  }
  const value = asReported(entry);
  await report(reporter, subject, {
    decision: 'orphan',
    reason: EVENT_REASONS.possibleOrphan,
    message: `what ${subject.kind} ${subject.name} stood for may be left behind: ${entry.message ?? ''}`,
    rule,
  });
  return timedRecord.save({ subject, value, wakeTime: addDuration(now, LEDGER_CHECK) });
}

function reportWithoutFinalizerRule(
  reporter: Reporter,
  { subject, rule, because }: EntryWithoutFinalizerRule,
  entry: LedgerEntry,
  isDeleting: boolean,
): Promise<void> {
  const { finalizerName, phase } = entry;
  const then = isDeleting ? 'it is being deleted and stays' : 'it would stay when it is deleted';
  const done = phase === 'cleaned' ? '; its clean-up is done' : '';
  return report(reporter, subject, {
    decision: 'warn',
    reason: EVENT_REASONS.finalizerWithoutRule,
    message: `nothing cleans up under its finalizer ${finalizerName}, because ${because}: ${then} until the rule is there again, or somebody takes the finalizer off${done}`,
    rule,
  });
}

function report(
  reporter: Reporter,
  subject: Subject,
  { rule, reason, ...said }: { decision: string; reason: string; message: string; rule: string },
): Promise<void> {
  return reporter.report({
    about: aboutSubject(subject),
    ...said,
    reason,
    details: { rule },
    metric: { name: reason },
    event: { type: 'Warning' },
  });
}
