/**
 * One object of a kind that a FinalizerRule names: ledger → finalizer → clean-up → release. The finalizer goes only after the ledger
 * says that the clean-up succeeded (I1), so the next run completes one that dies anywhere.
 */
import type { HookAnswer } from '../../../shared/contract/hook-answer.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { parseApiVersion, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { TerminationDeps } from '../steps/context.ts';
import { reserveCall } from './call-rate.ts';
import { callCleanUp, clearDegraded, keepAnswer } from './clean-up.ts';
import { LEDGER_CHECK, retryDelay, type decideRule, type RuleDecision } from './decide.ts';
import { hold, orphan, strip } from './hold.ts';
import { nextEntry, saveEntry } from './ledger.ts';
import { observeObject, type ObjectLook } from './observe-object.ts';
import { LEDGER_CODEC, type LedgerEntry } from './record.ts';
import { tryLaterWhenRefused } from './refused.ts';
import { reportObject } from './report.ts';
import { loadRules, ruleFor } from './rule-set.ts';

export interface RuleParts {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
  readonly decideRule: typeof decideRule;
}

/** What a worker answered by its event. */
export type WorkerAnswer = HookAnswer & { readonly rule: string };

interface Run {
  ownAttempt: number | undefined;
  answer: WorkerAnswer | undefined;
}

/** @param subject with its UID */
export async function reconcileObject(
  parts: RuleParts,
  subject: Subject,
  wakeUp?: UsedWakeUp,
  answer?: WorkerAnswer,
): Promise<void> {
  const { deps } = parts;
  const { uid, kind, name } = subject;
  if (uid === undefined) return;
  const inForce = ruleFor(parseApiVersion(subject.apiVersion).group, kind, await loadRules(deps));
  const record = openRecord(deps, LEDGER_CODEC, `object/${uid}`, wakeUp);
  // Without a rule nothing is asked for; what its objects carry went with it, or is held until it is there again.
  if (inForce?.type === undefined) return keepFor(deps, subject, record, answer);
  const { type } = inForce;
  const run: Run = { ownAttempt: undefined, answer };
  await settle<ObjectLook, RuleDecision>({
    what: `${kind} ${name}`,
    observe: () => observeObject(deps, { subject, inForce, type, record, ownAttempt: run.ownAttempt }),
    decide: look => parts.decideRule(look.observation),
    apply: (decision, look) => tryLaterWhenRefused(parts, look, record, apply(parts, run, decision, look)),
  });
}

/**
 * An entry without a rule, an orphan for one: it keeps its timer, so that nothing of it is lost. What a worker has done counts once a rule is
 * in force again.
 */
async function keepFor(
  { clock }: TerminationDeps,
  { kind, name }: Subject,
  record: TimedRecord<LedgerEntry>,
  answer: WorkerAnswer | undefined,
): Promise<void> {
  await settle({
    what: `${kind} ${name}`,
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: held => held,
    async apply(held) {
      if (held.kind !== 'held') return DONE;
      const { value, stored } = held;
      const time = clock.now();
      const isDone = answer?.kind === 'succeeded' && answer.rule === value.rule && IS_CALLED.has(value.phase);
      const next = isDone ? ({ ...value, phase: 'cleaned', time } as const) : value;
      return record.save({ subject: stored.subject, value: next, wakeTime: addDuration(time, LEDGER_CHECK) });
    },
  });
}

const IS_CALLED: ReadonlySet<LedgerEntry['phase'] | undefined> = new Set(['intended', 'pending', 'failed']);

async function apply(parts: RuleParts, run: Run, decision: RuleDecision, look: ObjectLook): Promise<Turn> {
  const { record, entry, object, observation, inForce } = look;
  const { rule } = observation;
  const { answer } = run;
  run.answer = undefined;
  if (answer?.rule === inForce.object.metadata.name && entry !== undefined && IS_CALLED.has(entry.phase)) {
    const turn = await keepAnswer(parts, look, entry, answer);
    if (turn.kind === 'again') run.answer = 'written' in turn ? answer : undefined;
    return turn;
  }
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'close':
      return record.closeGone();
    case 'watch':
      return entry === undefined ? DONE : saveEntry(look, entry, decision.until);
    case 'hold':
      return hold(parts, look);
    case 'free':
      if (object !== undefined && (await strip(parts, look, object)) === 'changed') return again('it changed');
      return record.closeGone();
    case 'intend':
      return intend(parts, run, look);
    case 'call':
      run.ownAttempt = undefined;
      if (entry === undefined) return DONE;
      return keepAnswer(parts, look, entry, await callCleanUp(parts, look, entry.attempts));
    case 'wait':
      if (entry === undefined) return DONE;
      if (decision.overdue && entry.overdue !== true) await reportOverdue(parts, look);
      return saveEntry(look, { ...entry, ...(decision.overdue && { overdue: true }) }, decision.until);
    case 'release': {
      if (object === undefined) return again('it went');
      if (decision.because === 'deadline') return releaseUnclean(parts, look, object);
      await clearDegraded(parts, look);
      if ((await strip(parts, look, object)) === 'changed') return again('it changed');
      const message = `clean-up is done, ${rule.finalizerName} is off`;
      await reportObject(parts.reporter, look, { decision: 'release', reason: 'FinalizationSucceeded', message });
      return record.closeGone();
    }
    case 'orphan':
      return orphan(parts, look, 'it went before its clean-up was done: somebody else took the finalizer off');
  }
}

/** The ledger first: a run that dies in between leaves an object that the next one releases, and nothing is forgotten (I9). */
async function releaseUnclean(parts: RuleParts, look: ObjectLook, object: KubernetesObject): Promise<Turn> {
  if (look.entry?.phase !== 'orphaned') {
    const rule = look.inForce.object.metadata.name;
    const saved = await orphan(parts, look, `its deadline passed, and FinalizerRule ${rule} says Release`);
    if (!saved.written) return saved;
  }
  return (await strip(parts, look, object)) === 'changed' ? again('it changed') : DONE;
}

/** Notes the next call down, or takes a place in the queue of its rule. */
async function intend({ deps }: RuleParts, run: Run, look: ObjectLook): Promise<Turn> {
  const { entry, observation, inForce } = look;
  const { now } = observation;
  const slot = entry?.slotTime === undefined ? await reserveCall(deps, inForce.object) : now;
  if (slot > now) {
    return saveEntry(look, { ...nextEntry(look), phase: entry?.phase ?? 'held', slotTime: slot }, slot);
  }
  const attempts = (entry?.attempts ?? 0) + 1;
  const next = { ...nextEntry(look), phase: 'intended', attempts, time: now } as const;
  const turn = await saveEntry(look, next, addDuration(now, retryDelay(5)));
  if (turn.written) run.ownAttempt = attempts;
  return again('the call was noted down');
}

function reportOverdue({ reporter }: RuleParts, look: ObjectLook): Promise<void> {
  return reportObject(reporter, look, {
    decision: 'overdue',
    reason: EVENT_REASONS.finalizationOverdue,
    message: 'its deadline passed, and its rule says Keep',
    type: 'Warning',
  });
}
