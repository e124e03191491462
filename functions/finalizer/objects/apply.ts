/**
 * Carries out what one object needs: ledger → finalizer → clean-up → release. The finalizer goes only after the ledger says that the clean-up
 * succeeded (I1), so the next run completes one that dies anywhere.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, isAhead } from '../../../shared/domain/time.ts';
import { isRefused } from '../../../shared/lifecycle/refusals.ts';
import { anotherTurn, DONE, PROGRESSED, type Turn } from '../../../shared/lifecycle/settle.ts';
import { releaseCall, reserveCall } from './call-rate.ts';
import { awaitsAnswer, callCleanUp, clearDegraded, saveAnswer } from './clean-up.ts';
import type { ObjectContext, ObjectRunContext } from './context.ts';
import { isPastRelease } from './rule/deadline.ts';
import { isReportedOrphan } from './rule/entry.ts';
import { LEDGER_CHECK, type ObjectDecision } from './decide.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';
import { nextEntry, noteDown, noteOrphan, saveEntry, TAKE_OVER_AFTER } from './ledger.ts';
import type { FoundObject, ObservedObject } from './observe.ts';
import { type LedgerEntry, storedPhaseOf } from './record.ts';
import { reportLateSuccess, reportObject, reportOrphan, reportOverdue } from './report.ts';

/** A decision about an object of the cluster and its entry in the ledger. */
export type LedgerDecision = ObjectDecision<LedgerEntry, FoundObject>;

/** Carries a decision out. An answer of a worker is written down first, whatever is refused. */
export async function apply(
  context: ObjectRunContext,
  decision: LedgerDecision,
  observed: ObservedObject,
): Promise<Turn> {
  return (await takeAnswer(context, observed)) ?? carryOutUnlessRefused(context, decision, observed);
}

/** Writes the answer in hand down; undefined: there is none, or nobody waits for it. */
async function takeAnswer(context: ObjectRunContext, observed: ObservedObject): Promise<Turn | undefined> {
  const { entry, inForce } = observed;
  const { answer } = context;
  context.answer = undefined;
  if (answer?.rule !== inForce.object.metadata.name || entry === undefined || !awaitsAnswer(entry, answer))
    return undefined;
  // A heartbeat does not put off a release.
  if (answer.kind === 'pending' && entry.phase === 'pending' && isPastRelease(observed.observation)) return undefined;
  if (isReportedOrphan(entry)) await reportLateSuccess(context.reporter, observed);
  const turn = await saveAnswer(context, observed, entry, answer);
  if (turn.kind === 'again') context.answer = 'written' in turn ? answer : undefined;
  return turn;
}

/** The key of a refused change in the stored entry, where earlier versions called the addition of a finalizer `hold`. */
const refusalKeyOf = ({ kind }: LedgerDecision): string => (kind === 'addFinalizer' ? 'hold' : kind);

/** Carries a decision out. A refusal is remembered in the entry, and said on the object. */
async function carryOutUnlessRefused(
  context: ObjectRunContext,
  decision: LedgerDecision,
  observed: ObservedObject,
): Promise<Turn> {
  const { reporter, backoff } = context;
  const { entry, object, inForce, timedRecord } = observed;
  const report = (message: string, isRepeated: boolean): Promise<void> =>
    reportObject(reporter, observed, {
      decision: 'retry',
      reason: EVENT_REASONS.changeRefused,
      eventReason: EVENT_REASONS.finalizationError,
      message,
      type: 'Warning',
      isRepeated,
    });
  // Of an object without an entry, the try rests on the one that it writes.
  const { phase, attempts } = entry ?? nextEntry(observed);
  const restsOn = [object, inForce.object, storedPhaseOf(phase), attempts];
  const outcome = await backoff.try({ key: refusalKeyOf(decision), stored: entry?.refusals, restsOn, report }, () =>
    carryOut(context, decision, observed),
  );
  if (!isRefused(outcome)) return outcome;
  // This turn may have written it.
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return anotherTurn('a newer version wrote its entry');
  const refusals = backoff.refusalsAfter(entry?.refusals);
  const entryNow = loaded.kind === 'known' ? loaded.value : nextEntry(observed);
  const value = { ...entryNow, message: outcome.message, ...(refusals !== undefined && { refusals }) };
  return saveEntry(observed, value, outcome.until, outcome.redeliveryError);
}

async function carryOut(context: ObjectRunContext, decision: LedgerDecision, observed: ObservedObject): Promise<Turn> {
  const { timedRecord } = observed;
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'close':
      return timedRecord.closeNow();
    case 'watch':
      return saveEntry(observed, decision.entry, decision.until);
    case 'addFinalizer':
      return addFinalizer(context, observed, decision.object.live);
    case 'free':
      if ((await removeFinalizer(context, observed, decision.object.live)) === 'changed')
        return anotherTurn('it changed');
      return timedRecord.closeNow();
    case 'intend':
      return intend(context, observed);
    case 'call':
      context.ownAttempt = undefined;
      return callAndSave(context, observed, decision.entry);
    case 'wait': {
      const { entry, until, isOverdue } = decision;
      if (!isOverdue || entry.overdue === true) return saveEntry(observed, entry, until);
      if (entry.overdue === undefined) return noteDown(observed, { ...entry, overdue: false });
      await reportOverdue(context.reporter, observed);
      return saveEntry(observed, { ...entry, overdue: true }, until);
    }
    case 'release':
      return (decision.because === 'deadline' ? releaseUnclean : releaseClean)(context, observed, decision.object.live);
    case 'orphan':
      if (observed.entry?.phase === 'orphaned') return saveReportedOrphan(context, observed);
      return noteOrphan(
        observed,
        'the ledger knows of no clean-up that was done: somebody else took the finalizer off, or the table is older than the clean-up',
      );
  }
}

async function callAndSave(context: ObjectContext, observed: ObservedObject, entry: LedgerEntry): Promise<Turn> {
  const answer = await callCleanUp(context, observed, entry.attempts);
  const turn = await saveAnswer(context, observed, entry, answer);
  await releaseCall(context.deps, observed.inForce, observed.subject.uid ?? '');
  return turn;
}

async function releaseClean(context: ObjectContext, observed: ObservedObject, object: KubernetesObject): Promise<Turn> {
  await clearDegraded(context, observed);
  if ((await removeFinalizer(context, observed, object)) === 'changed') return anotherTurn('it changed');
  const message = `clean-up is done, ${observed.inForce.rule.finalizerName} is off`;
  await reportObject(context.reporter, observed, { decision: 'release', reason: 'FinalizationSucceeded', message });
  return observed.timedRecord.closeNow();
}

/**
 * Releases an object without its clean-up, the ledger first: a run that dies in between leaves an object that the next one releases, and nothing
 * is forgotten (I9). The next turn reports it.
 */
async function releaseUnclean(
  context: ObjectContext,
  observed: ObservedObject,
  object: KubernetesObject,
): Promise<Turn> {
  if (observed.entry?.phase !== 'orphaned') {
    const rule = observed.inForce.object.metadata.name;
    return noteOrphan(observed, `its deadline passed, and FinalizerRule ${rule} says Release`);
  }
  return (await removeFinalizer(context, observed, object)) === 'changed' ? anotherTurn('it changed') : PROGRESSED;
}

async function saveReportedOrphan({ reporter }: ObjectContext, observed: ObservedObject): Promise<Turn> {
  const entry = nextEntry(observed);
  await reportOrphan(reporter, observed, entry.message);
  return saveEntry(observed, entry, addDuration(observed.observation.now, LEDGER_CHECK));
}

/** Notes the next call down, or waits for its time in the queue of its FinalizerRule. */
async function intend(context: ObjectRunContext, observed: ObservedObject): Promise<Turn> {
  const { deps, reserveCallTime } = context;
  const { entry, observation, inForce } = observed;
  const { now } = observation;
  const isCallDue = entry !== undefined && entry.phase !== 'cleaned' && entry.callTime !== undefined;
  const callTime = await reserveCall(deps, inForce, observed.subject.uid ?? '', { isCallDue, now, reserveCallTime });
  if (isAhead(now, callTime)) {
    const next = { ...nextEntry(observed), callTime };
    // One that queues again has queued since then.
    const isFirst = next.phase === 'finalizerAdded' && !isCallDue;
    return saveEntry(observed, { ...next, ...(isFirst && { time: now }) }, callTime);
  }
  const attempts = (entry?.attempts ?? 0) + 1;
  const next = { ...nextEntry(observed), phase: 'intended', attempts, time: now } as const;
  const turn = await saveEntry(observed, next, addDuration(now, TAKE_OVER_AFTER));
  if (turn.written) context.ownAttempt = attempts;
  return anotherTurn('the call was noted down');
}
