/**
 * One object of a kind that a FinalizerRule names: ledger → finalizer → clean-up → release. The finalizer goes only after the ledger
 * says that the clean-up succeeded (I1), so a run that dies anywhere is made up for by the next one.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, parseTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { HookAnswer } from '../../../shared/contract/hook-answer.ts';
import type { TerminationDeps } from '../steps/context.ts';
import { reserveCall } from './call-rate.ts';
import { LEDGER_CHECK, retryDelay, type decideRule, type RuleDecision, type RuleObservation } from './decide.ts';
import { LEDGER_CODEC, type LedgerEntry } from './record.ts';
import { loadRules, ruleFor, type RuleInForce } from './rule-set.ts';
import { setConditions } from '../set-condition.ts';

export interface RuleParts {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
  readonly decideRule: typeof decideRule;
}

/** What a worker answered, by the event `TerminationHookAnswered`. */
export type WorkerAnswer = HookAnswer & { readonly rule: string };

interface Look {
  readonly observation: RuleObservation;
  readonly inForce: RuleInForce;
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  readonly object: KubernetesObject | undefined;
  readonly subject: Subject;
  readonly record: TimedRecord<LedgerEntry>;
  readonly entry: LedgerEntry | undefined;
}

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
  const { uid, kind, name, namespace } = subject;
  if (uid === undefined) return;
  const inForce = ruleFor(parseApiVersion(subject.apiVersion).group, kind, await loadRules(deps));
  // Without a rule nothing is asked for; what its objects carry went with it, or is held until it is there again.
  if (inForce?.type === undefined) return;
  const { type, rule } = { type: inForce.type, rule: inForce.rule };
  const record = openRecord(deps, LEDGER_CODEC, `object/${uid}`, wakeUp);
  const run: Run = { ownAttempt: undefined, answer };
  await settle<Look, RuleDecision>({
    what: `${kind} ${name}`,
    async observe() {
      const held = await record.load();
      if (held.kind === 'newer') return { kind: 'over' };
      const entry = held.kind === 'held' ? held.value : undefined;
      const known = held.kind === 'held' ? held.stored.subject : subject;
      const ref = { type, name: known.name, ...(namespace !== undefined && { namespace }) };
      const found = await deps.kubernetes.get(ref);
      const object = found?.metadata.uid === uid ? found : undefined;
      const deletion = object?.metadata.deletionTimestamp;
      const observation: RuleObservation = {
        now: deps.clock.now(),
        rule,
        ruleEnds: inForce.object.metadata.deletionTimestamp !== undefined,
        object: object && {
          isHeld: object.metadata.finalizers?.includes(rule.finalizerName) === true,
          deletionTime: deletion === undefined ? undefined : parseTimestamp(deletion),
        },
        entry,
        ownIntent: entry !== undefined && run.ownAttempt === entry.attempts,
      };
      return { kind: 'here', observation: { observation, inForce, type, ref, object, subject: known, record, entry } };
    },
    decide: look => parts.decideRule(look.observation),
    apply: (decision, look) => apply(parts, run, decision, look),
  });
}

async function apply(parts: RuleParts, run: Run, decision: RuleDecision, look: Look): Promise<Turn> {
  const { record, entry, object, observation, inForce } = look;
  const { now, rule } = observation;
  const { answer } = run;
  if (answer !== undefined && entry?.phase === 'pending' && answer.rule === inForce.object.metadata.name) {
    run.answer = undefined;
    return answer.kind === 'pending'
      ? save(look, { ...entry, time: now }, addDuration(now, LEDGER_CHECK))
      : answered(parts, look, entry, answer);
  }
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'close':
      return record.closeGone();
    case 'watch':
      return entry === undefined ? DONE : save(look, entry, decision.until);
    case 'hold':
      return hold(parts, look);
    case 'free':
      if (object !== undefined && (await strip(parts, look, object)) === 'changed') return again('it changed');
      return record.closeGone();
    case 'intend': {
      const isTurn = entry?.slotTime !== undefined;
      const slot = isTurn ? now : await reserveCall(parts.deps, inForce.object);
      if (slot > now) return save(look, { ...base(look, entry), phase: entry?.phase ?? 'held', slotTime: slot }, slot);
      const attempts = (entry?.attempts ?? 0) + 1;
      const turn = await save(
        look,
        { ...base(look, entry), phase: 'intended', attempts, time: now },
        addDuration(now, retryDelay(5)),
      );
      if (turn.kind === 'done' || turn.written) run.ownAttempt = attempts;
      return again('the call was noted down');
    }
    case 'call':
      run.ownAttempt = undefined;
      return entry === undefined ? DONE : answered(parts, look, entry, await call(parts, look, entry));
    case 'wait': {
      if (entry === undefined) return DONE;
      if (decision.overdue && entry.overdue !== true) await reportOverdue(parts, look);
      return save(look, { ...entry, ...(decision.overdue && { overdue: true }) }, decision.until);
    }
    case 'release': {
      if (object === undefined) return again('it went');
      if (decision.because === 'cleaned') await clearDegraded(parts, look, object);
      if (decision.because === 'deadline') return releaseAtDeadline(parts, look);
      if ((await strip(parts, look, object)) === 'changed') return again('it changed');
      await report(parts, look, 'release', 'FinalizationSucceeded', `clean-up is done, ${rule.finalizerName} is off`);
      return record.closeGone();
    }
    case 'orphan':
      return orphan(parts, look, 'it went before its clean-up was done: somebody else took the finalizer off');
  }
}

const base = ({ inForce, observation }: Look, entry: LedgerEntry | undefined): LedgerEntry => {
  const { slotTime: _, ...rest } = entry ?? { attempts: 0, phase: 'held' as const, time: observation.now };
  return { ...rest, rule: inForce.object.metadata.name, finalizerName: inForce.rule.finalizerName };
};

const save = ({ record, subject }: Look, value: LedgerEntry, wakeTime: EpochMs) =>
  record.save({ subject, value, wakeTime });

async function hold(parts: RuleParts, look: Look): Promise<Turn> {
  const { object, observation, entry, inForce } = look;
  if (object === undefined) return DONE;
  const { now, rule } = observation;
  const value: LedgerEntry = { ...base(look, entry), phase: 'held', attempts: 0, time: entry?.time ?? now };
  const saved = await save(look, value, addDuration(now, LEDGER_CHECK));
  if (!saved.written) return saved;
  if (observation.object?.isHeld === true) return saved;
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, rule.finalizerName] } };
  const outcome = await parts.deps.kubernetes.patch(look.ref, { type: 'merge', body });
  if (outcome.kind !== 'ok') return again('it changed');
  const why = entry === undefined ? 'FinalizerAdded' : 'FinalizerRestored';
  await report(parts, look, 'hold', why, `FinalizerRule ${inForce.object.metadata.name} put ${rule.finalizerName} on`);
  return saved;
}

/** Takes the finalizer off exactly the object that was looked at. */
async function strip(parts: RuleParts, { ref, inForce }: Look, object: KubernetesObject): Promise<'ok' | 'changed'> {
  const { uid, resourceVersion, finalizers = [] } = (await fresh(parts, ref, object)).metadata;
  const kept = finalizers.filter(name => name !== inForce.rule.finalizerName);
  if (kept.length === finalizers.length) return 'ok';
  const body = { metadata: { uid, resourceVersion, finalizers: kept } };
  const outcome = await parts.deps.kubernetes.patch(ref, { type: 'merge', body });
  return outcome.kind === 'conflict' ? 'changed' : 'ok';
}

/** A condition may just have been taken off it. */
async function fresh({ deps }: RuleParts, ref: ObjectRef, object: KubernetesObject): Promise<KubernetesObject> {
  const now = await deps.kubernetes.get(ref);
  return now?.metadata.uid === object.metadata.uid ? now : object;
}

async function call(parts: RuleParts, look: Look, { attempts }: LedgerEntry): Promise<HookAnswer> {
  const { inForce, object, subject } = look;
  const { cleanup } = inForce.rule;
  if (cleanup.kind === 'none') return { kind: 'succeeded' };
  const { name, namespace, uid = '', kind, apiVersion } = subject;
  const rule = inForce.object.metadata.name;
  try {
    return await parts.deps.hooks.invoke({
      purpose: 'cleanup',
      name: rule,
      target: cleanup,
      key: `${uid}/${rule}`,
      about: { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) },
      details: { attempt: attempts, spec: object?.spec ?? {}, status: object?.status ?? {} },
    });
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    return { kind: 'failed', message: messageOf(error) };
  }
}

async function answered(parts: RuleParts, look: Look, entry: LedgerEntry, answer: HookAnswer): Promise<Turn> {
  const { now } = look.observation;
  const { message: _, ...rest } = base(look, entry);
  if (answer.kind === 'succeeded') {
    const saved = await save(look, { ...rest, phase: 'cleaned', time: now }, addDuration(now, retryDelay(5)));
    return saved.written ? again('the clean-up is done') : saved;
  }
  if (answer.kind === 'pending') {
    const saved = await save(look, { ...rest, phase: 'pending', time: now }, addDuration(now, LEDGER_CHECK));
    return saved.written ? again('a worker is at it') : saved;
  }
  const { message } = answer;
  const saved = await save(
    look,
    { ...rest, phase: 'failed', time: now, message },
    addDuration(now, retryDelay(entry.attempts)),
  );
  if (!saved.written) return saved;
  await degrade(parts, look, entry.attempts, message);
  return again('the clean-up failed');
}

const CONDITION = 'Degraded';
const REASON = 'FinalizationError';

async function degrade(parts: RuleParts, look: Look, attempts: number, message: string): Promise<void> {
  const { object, ref, observation } = look;
  const text = `clean-up failed: ${message}`;
  await report(parts, look, 'retry', EVENT_REASONS.finalizationError, text, 'Warning', { attempts });
  if (object === undefined) return;
  const change = { type: CONDITION, status: 'True', reason: REASON, message: text } as const;
  await setConditions(parts.deps, ref, object, [change], observation.now);
}

async function clearDegraded(parts: RuleParts, look: Look, object: KubernetesObject): Promise<void> {
  const conditions = object.status?.['conditions'];
  const isOurs =
    Array.isArray(conditions) &&
    conditions.some(
      (each: { type?: unknown; reason?: unknown } | null) => each?.type === CONDITION && each.reason === REASON,
    );
  if (!isOurs) return;
  await setConditions(parts.deps, look.ref, object, [{ type: CONDITION, status: 'absent' }], look.observation.now);
}

async function releaseAtDeadline(parts: RuleParts, look: Look): Promise<Turn> {
  const { object, inForce } = look;
  if (object !== undefined && (await strip(parts, look, object)) === 'changed') return again('it changed');
  return orphan(parts, look, `its deadline passed, and FinalizerRule ${inForce.object.metadata.name} says Release`);
}

/** Stays in the ledger until a person has seen to it. */
async function orphan(parts: RuleParts, look: Look, because: string): Promise<Turn> {
  const { observation, entry, subject } = look;
  const value: LedgerEntry = { ...base(look, entry), phase: 'orphaned', time: observation.now, message: because };
  const saved = await save(look, value, addDuration(observation.now, LEDGER_CHECK));
  if (!saved.written) return saved;
  const message = `what ${subject.kind} ${subject.name} stood for may be left behind: ${because}`;
  await report(parts, look, 'orphan', EVENT_REASONS.possibleOrphan, message, 'Warning');
  return saved;
}

const reportOverdue = (parts: RuleParts, look: Look): Promise<void> =>
  report(
    parts,
    look,
    'overdue',
    EVENT_REASONS.finalizationOverdue,
    'its deadline passed, and its rule says Keep',
    'Warning',
  );

async function report(
  { reporter }: RuleParts,
  { subject, inForce }: Look,
  decision: string,
  reason: string,
  message: string,
  type?: 'Normal' | 'Warning',
  details: { readonly attempts?: number } = {},
): Promise<void> {
  const { apiVersion, kind, name, namespace, uid } = subject;
  await reporter.report({
    about: {
      apiVersion,
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) },
    },
    decision,
    reason,
    message,
    details: { rule: inForce.object.metadata.name, ...details },
    metric: { name: reason },
    ...(type !== undefined && { event: { type } }),
  });
}
