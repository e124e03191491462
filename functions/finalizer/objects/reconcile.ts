/**
 * One object of a kind that a FinalizerRule names: ledger → finalizer → clean-up → release. The finalizer goes only after the ledger
 * says that the clean-up succeeded (I1), so the next run completes one that dies anywhere.
 */
import type { FinalizerContext } from '../cluster/context.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { parseApiVersion, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import { createTries, isRefusal, type Tries } from '../../../shared/lifecycle/refusals.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { callEnded, reserveCall } from './call-rate.ts';
import { callCleanUp, clearDegraded, FOLLOWED_BY, keepAnswer } from './clean-up.ts';
import type { decideRule, RuleDecision, takeSlot } from './decide.ts';
import { orphan, putOn, strip } from './finalizer.ts';
import { entryRecord, nextEntry, rulesIn, saveEntry } from './ledger.ts';
import { observeObject, type ObjectLook } from './observe.ts';
import { LEDGER_CODEC, type LedgerEntry } from './record.ts';
import { reportObject } from './report.ts';
import { isKeepingRefused } from '../rules/record.ts';
import { loadRules, rulesOver, acceptanceOf } from '../rules/rule-set.ts';
import { isAnswered, keepWithoutRule, type WorkerAnswer } from './without-rule.ts';

export interface ObjectContext extends FinalizerContext {
  readonly decideRule: typeof decideRule;
  readonly takeSlot: typeof takeSlot;
}

interface Run {
  ownAttempt: number | undefined;
  answer: WorkerAnswer | undefined;
}

/** @param subject with its UID */
export async function reconcileObject(
  parts: ObjectContext,
  subject: Subject,
  wakeUp?: UsedWakeUp,
  answer?: WorkerAnswer,
): Promise<void> {
  const { deps } = parts;
  const { uid, kind, name } = subject;
  if (uid === undefined) return;
  const all = await loadRules(deps);
  const rules = rulesOver(parseApiVersion(subject.apiVersion).group, kind, all);
  const ledger = openRecord(deps, LEDGER_CODEC, `object/${uid}`, wakeUp);
  const known = rulesIn(await ledger.load());
  for (const each of rules) {
    const rule = each.object.metadata.name;
    const record = entryRecord(deps, ledger, rule);
    // The plural stands in the status of the rule, which others may have emptied.
    const type = each.type ?? (await deps.kubernetes.resolve(each.rule));
    if (type === undefined) {
      await keepWithoutRule(parts, { subject, record, rule, because: undefined }, answer);
      continue;
    }
    const isRefused = !each.isKept && (await isKeepingRefused(deps, each.object.metadata.uid));
    const run: Run = { ownAttempt: undefined, answer };
    const tries = createTries(deps.clock);
    await settle<ObjectLook, RuleDecision>({
      what: `${kind} ${name}`,
      observe: () => {
        const { ownAttempt } = run;
        return observeObject(deps, { subject, inForce: each, type, record, isKeepingRefused: isRefused, ownAttempt });
      },
      decide: observed => parts.decideRule(observed.observation),
      // An answer of a worker is written down first, whatever is refused.
      apply: async (decision, observed) =>
        (await takeAnswer(parts, run, observed)) ??
        applyUnlessRefused({ ...parts, tries }, decision, observed, () => apply(parts, run, decision, observed)),
    });
  }
  for (const rule of known) {
    if (rules.some(({ object }) => object.metadata.name === rule)) continue;
    const because = whyNothingCleansUp(rule, all);
    await keepWithoutRule(parts, { subject, record: entryRecord(deps, ledger, rule), rule, because }, answer);
  }
}

/** What is refused is remembered in the entry, and said on the object. */
async function applyUnlessRefused(
  { reporter, tries }: ObjectContext & { readonly tries: Tries },
  { kind }: RuleDecision,
  observed: ObjectLook,
  call: () => Promise<Turn>,
): Promise<Turn> {
  const { entry, object, inForce, record } = observed;
  const say = (message: string, isRepeated: boolean): Promise<void> =>
    reportObject(reporter, observed, {
      decision: 'retry',
      reason: EVENT_REASONS.finalizationError,
      message,
      type: 'Warning',
      isRepeated,
    });
  const restsOn = [object, inForce.object, entry?.phase, entry?.attempts];
  const outcome = await tries.make({ key: kind, stored: entry?.refusals, restsOn, say }, call);
  if (!isRefusal(outcome)) return outcome;
  // This turn may have written it.
  const loaded = await record.load();
  if (loaded.kind === 'newer') return again('a newer version wrote its entry');
  const refusals = tries.after(entry?.refusals);
  const known = loaded.kind === 'known' ? loaded.value : nextEntry(observed);
  const value = { ...known, message: outcome.message, ...(refusals !== undefined && { refusals }) };
  const saved = await saveEntry(observed, value, outcome.until);
  if (outcome.goesBack !== undefined) throw outcome.goesBack;
  return saved;
}

/** What became of a rule by which nothing is cleaned up. */
function whyNothingCleansUp(rule: string, all: readonly KubernetesObject[]): string {
  const object = all.find(({ metadata }) => metadata.name === rule);
  if (object === undefined) return `FinalizerRule ${rule} is gone`;
  const acceptance = acceptanceOf(object, all);
  return `FinalizerRule ${rule} is not what it was${acceptance.kind === 'invalid' ? `: ${acceptance.message}` : ''}`;
}

/** Writes the answer in hand down; undefined: there is none that anybody waits for. */
async function takeAnswer(parts: ObjectContext, run: Run, observed: ObjectLook): Promise<Turn | undefined> {
  const { entry, inForce } = observed;
  const { answer } = run;
  run.answer = undefined;
  if (answer?.rule !== inForce.object.metadata.name || entry === undefined || !isAnswered(entry, answer))
    return undefined;
  if (entry.phase === 'orphaned') await reportLateSuccess(parts, observed);
  const turn = await keepAnswer(parts, observed, entry, answer);
  if (turn.kind === 'again') run.answer = 'written' in turn ? answer : undefined;
  return turn;
}

async function apply(parts: ObjectContext, run: Run, decision: RuleDecision, observed: ObjectLook): Promise<Turn> {
  const { record, entry, object, observation } = observed;
  const { rule } = observation;
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'close':
      return record.closeGone();
    case 'watch':
      return entry === undefined ? DONE : saveEntry(observed, entry, decision.until);
    case 'hold':
      return putOn(parts, observed);
    case 'free':
      if (object !== undefined && (await strip(parts, observed, object)) === 'changed') return again('it changed');
      return record.closeGone();
    case 'intend':
      return intend(parts, run, observed);
    case 'call':
      run.ownAttempt = undefined;
      if (entry === undefined) return DONE;
      return callAndKeep(parts, observed, entry);
    case 'wait':
      if (entry === undefined) return DONE;
      if (decision.overdue && entry.overdue !== true) await reportOverdue(parts, observed);
      return saveEntry(observed, { ...entry, ...(decision.overdue && { overdue: true }) }, decision.until);
    case 'release': {
      if (object === undefined) return again('it went');
      if (decision.because === 'deadline') return releaseUnclean(parts, observed, object);
      await clearDegraded(parts, observed);
      if ((await strip(parts, observed, object)) === 'changed') return again('it changed');
      const message = `clean-up is done, ${rule.finalizerName} is off`;
      await reportObject(parts.reporter, observed, { decision: 'release', reason: 'FinalizationSucceeded', message });
      return record.closeGone();
    }
    case 'orphan':
      return orphan(parts, observed, 'it went before its clean-up was done: somebody else took the finalizer off');
  }
}

async function callAndKeep(parts: ObjectContext, observed: ObjectLook, entry: LedgerEntry): Promise<Turn> {
  const answer = await callCleanUp(parts, observed, entry.attempts);
  const turn = await keepAnswer(parts, observed, entry, answer);
  await callEnded(parts.deps, observed.inForce, observed.subject.uid ?? '');
  return turn;
}

/** The ledger first: a run that dies in between leaves an object that the next one releases, and nothing is forgotten (I9). */
async function releaseUnclean(parts: ObjectContext, observed: ObjectLook, object: KubernetesObject): Promise<Turn> {
  if (observed.entry?.phase !== 'orphaned') {
    const rule = observed.inForce.object.metadata.name;
    const saved = await orphan(parts, observed, `its deadline passed, and FinalizerRule ${rule} says Release`);
    if (!saved.written) return saved;
  }
  return (await strip(parts, observed, object)) === 'changed' ? again('it changed') : DONE;
}

/** Notes the next call down, or takes a place in the queue of its rule. */
async function intend({ deps, takeSlot: take }: ObjectContext, run: Run, observed: ObjectLook): Promise<Turn> {
  const { entry, observation, inForce } = observed;
  const { now } = observation;
  const isPlaced = entry?.slotTime !== undefined;
  const slot = await reserveCall(deps, inForce, observed.subject.uid ?? '', { isPlaced, now, take });
  if (slot > now) {
    return saveEntry(observed, { ...nextEntry(observed), phase: entry?.phase ?? 'held', slotTime: slot }, slot);
  }
  const attempts = (entry?.attempts ?? 0) + 1;
  const next = { ...nextEntry(observed), phase: 'intended', attempts, time: now } as const;
  const turn = await saveEntry(observed, next, addDuration(now, FOLLOWED_BY));
  if (turn.written) run.ownAttempt = attempts;
  return again('the call was noted down');
}

/** Said before the entry is closed (I9). */
function reportLateSuccess({ reporter }: ObjectContext, observed: ObjectLook): Promise<void> {
  const message = 'its clean-up is done after all: it is no possible orphan any more';
  return reportObject(reporter, observed, { decision: 'close', reason: 'FinalizationSucceeded', message });
}

function reportOverdue({ reporter }: ObjectContext, observed: ObjectLook): Promise<void> {
  return reportObject(reporter, observed, {
    decision: 'overdue',
    reason: EVENT_REASONS.finalizationOverdue,
    message: 'its deadline passed, and its rule says Keep',
    type: 'Warning',
  });
}
