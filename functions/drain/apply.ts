/** Carries out what was decided of a node's drains, one turn each. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, earliest, minutes, type EpochMs } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import { evictionRetryDelay } from '../../shared/pods/eviction.ts';
import { carryOutPass } from './act.ts';
import { isFree, remember, toFinished } from './admission.ts';
import { tellAnswers } from './answers.ts';
import { applyCustom } from './apply-custom.ts';
import { deleteResource } from './custom-resource.ts';
import type { DrainDecision } from './decide.ts';
import type { ActiveDrain, DrainOutcome, DrainRecord } from './model.ts';
import { finishNode, prepareNode, type NodeChange } from './node.ts';
import { noticesOf, sayNew } from './notices.ts';
import type { DrainDeps, Look } from './observe.ts';
import { formatScope } from './scope.ts';

export interface Parts {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
  readonly run: RunMemory;
}

/** What one run did itself; the same in all of its turns. */
export interface RunMemory {
  /** The message in hand stands in the record, or was answered. */
  taken: boolean;
  /** Something was carried out, and the next look starts from there. */
  progressed: boolean;
}

/** Whatever is waited for, a drain is looked at this often. */
const SAFETY_NET = minutes(5);
/** A run that dies between two turns is made up for after this long. */
const SOON = minutes(1);

type Of<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

export async function apply(parts: Parts, decision: DrainDecision, look: Look): Promise<Turn> {
  const { deps, run } = parts;
  switch (decision.kind) {
    case 'rest':
      if (decision.until === undefined) return look.store.release();
      return save(look, decision.record, decision.until);
    case 'answer':
      return answer(parts, decision, look);
    case 'take': {
      const saved = await save(look, decision.record, addDuration(look.now, SOON));
      if (!saved.written) return saved;
      await report(parts, look, {
        decision: 'take',
        reason: decision.how === 'joins' ? 'DrainJoined' : decision.how === 'follows' ? 'DrainQueued' : 'DrainAsked',
        message: `${decision.request.requestedBy} asks for a drain: ${decision.request.event.message || decision.request.event.checkName}`,
        details: { id: decision.request.id },
      });
      run.taken = true;
      return proceed(run);
    }
    case 'cancel':
      return cancel(parts, decision, look);
    case 'hold': {
      const said = `${decision.reason} ${decision.message}`;
      if (decision.reason === 'NoConfiguration') {
        // So that the Node is among those that a change of the configuration wakes.
        const hold = { quarantined: false, cordon: 'none' } as const;
        const changed = await prepareNode(deps, look.object, { id: '', hold, showDraining: false });
        if (changed !== 'ok') return lookAgain(changed);
      }
      const saved = await save(look, { ...look.record, reported: said }, addDuration(look.now, SAFETY_NET));
      if (!saved.written || look.record.reported === said) return saved;
      await report(parts, look, {
        decision: 'hold',
        reason: EVENT_REASONS.drainHeld,
        message: decision.message,
        event: { type: 'Warning' },
      });
      return saved;
    }
    case 'begin':
      return begin(parts, decision, look);
    case 'prepare': {
      const { active, hold, showDraining } = decision;
      const changed = await prepareNode(deps, look.object, { id: active.id, hold, showDraining });
      if (changed !== 'ok') return lookAgain(changed);
      const saved = await save(look, { ...look.record, active: { ...active, hold } }, addDuration(look.now, SOON));
      return saved.written ? proceed(run) : saved;
    }
    case 'drain':
      return drain(parts, decision, look);
    case 'finish':
      return finish(parts, decision, look);
    case 'close':
      return close(parts, decision, look);
    case 'createResource':
    case 'awaitResource':
    case 'fallBack':
      return applyCustom(parts, decision, look);
  }
}

const lookAgain = (changed: Exclude<NodeChange, 'ok'>): Turn => again(`the Node ${changed === 'gone' ? 'is gone' : 'changed'}`);

/** The next look of this run goes on from here. */
export function proceed(run: RunMemory): Turn {
  run.progressed = true;
  return DONE;
}

export function save(look: Look, value: DrainRecord, wakeTime: EpochMs) {
  const { kind, apiVersion, metadata } = look.object;
  return look.store.save({
    subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
    value,
    wakeTime,
  });
}

/** Until when a drain waits for news, at most. */
export const safely = (look: Look, time: EpochMs | undefined): EpochMs =>
  earliest(time, addDuration(look.now, SAFETY_NET)) ?? addDuration(look.now, SAFETY_NET);

const nodeOf = ({ object: { metadata } }: Look) => ({ name: metadata.name, uid: metadata.uid });

function report(
  { reporter }: Parts,
  { object }: Look,
  what: Omit<Parameters<Reporter['report']>[0], 'about'>,
): Promise<void> {
  return reporter.report({ ...what, about: object });
}

async function answer(parts: Parts, { record, answer: given, repeated }: Of<'answer'>, look: Look): Promise<Turn> {
  const { deps, run } = parts;
  const isFailed = given.status === 'Failed' && !repeated && record.active === undefined;
  if (isFailed) {
    const changed = await finishNode(deps, look.object, { status: 'Failed', uncordon: false });
    if (changed !== 'ok') return lookAgain(changed);
  }
  await tellAnswers(deps, nodeOf(look), [given]);
  const saved = repeated ? undefined : await save(look, record, addDuration(look.now, SOON));
  if (saved?.written === false) return saved;
  await report(parts, look, {
    decision: 'answer',
    reason: given.reason,
    message: `${given.status}: ${given.message}`,
    details: { id: given.id, status: given.status, repeated },
    ...(isFailed && { event: { type: 'Warning', reason: EVENT_REASONS.drainFailed } }),
  });
  run.taken = true;
  return proceed(run);
}

async function cancel(
  parts: Parts,
  { record, because, answers, releases }: Of<'cancel'>,
  look: Look,
): Promise<Turn> {
  const { deps, run } = parts;
  if (releases) {
    const changed = await finishNode(deps, look.object, { status: 'Cancelled', uncordon: true });
    if (changed !== 'ok') return lookAgain(changed);
  }
  await tellAnswers(deps, nodeOf(look), answers);
  const saved = await save(look, record, addDuration(look.now, SOON));
  if (!saved.written) return saved;
  await report(parts, look, {
    decision: releases ? 'release' : 'cancel',
    reason: EVENT_REASONS.drainCancelled,
    message: releases ? `${because}: nothing keeps the node any more` : because,
    details: { ids: answers.map(({ id }) => id) },
  });
  run.taken = true;
  return proceed(run);
}

async function begin(parts: Parts, { record, active }: Of<'begin'>, look: Look): Promise<Turn> {
  const { reported: _, ...begun } = record;
  const saved = await save(look, begun, addDuration(look.now, SOON));
  if (!saved.written) return saved;
  const [first] = active.requests;
  const about = first === undefined ? '' : `: ${first.event.checkName} from ${first.requestedBy}`;
  await report(parts, look, {
    decision: 'begin',
    reason: EVENT_REASONS.drainStarted,
    message: `drain ${active.id} of ${formatScope(active.scope)} has begun${about}`,
    details: { id: active.id, ids: active.requests.map(({ id }) => id), force: active.force },
    metric: { name: 'DrainStarted' },
    event: { type: 'Normal' },
  });
  return proceed(parts.run);
}

async function drain(parts: Parts, { active, pass }: Of<'drain'>, look: Look): Promise<Turn> {
  const { reporter, run } = parts;
  const result = await carryOutPass(parts, look.node.name, pass);
  const refusals = result.refusals.length === 0 ? 0 : active.refusals + 1;
  const retry =
    refusals === 0 ? undefined : addDuration(look.now, evictionRetryDelay(refusals, result.retryAfter));
  const notices = noticesOf(pass, result);
  const reported = await sayNew(reporter, look, notices, active.reported);
  const next: ActiveDrain = {
    ...active,
    warned: [...active.warned, ...result.warned],
    drained: active.drained + result.drained,
    refusals,
    reported,
  };
  const saved = await save(look, { ...look.record, active: next }, safely(look, earliest(pass.nextLook, retry)));
  if (!saved.written) return saved;
  // A pod that was warned of may be due already; one that changed is looked at again.
  if (result.changed) return again('a pod changed');
  return result.warned.length > 0 ? proceed(run) : saved;
}

async function finish(parts: Parts, { active, outcome, pass }: Of<'finish'>, look: Look): Promise<Turn> {
  const result = pass === undefined ? undefined : await carryOutPass(parts, look.node.name, pass);
  const end = { ...outcome, time: look.now };
  const drained = active.drained + (result?.drained ?? 0);
  const saved = await save(look, { ...look.record, active: { ...active, drained, end } }, addDuration(look.now, SOON));
  return saved.written ? proceed(parts.run) : saved;
}

async function close(parts: Parts, { active, outcome }: Of<'close'>, look: Look): Promise<Turn> {
  const { deps, run } = parts;
  const { active: _, ...rest } = look.record;
  const isCalledOff = outcome.status === 'Cancelled';
  const uncordon = isCalledOff && rest.requests.length === 0 && look.node.cordonMark !== undefined && isFree(rest);
  await deleteResource(deps, active.custom);
  const changed = await finishNode(deps, look.object, { status: outcome.status, uncordon });
  if (changed !== 'ok') return lookAgain(changed);
  const { scope, startTime, drained } = active;
  const ended = active.requests.map(request =>
    toFinished(request, outcome, { now: look.now, scope, drained, startTime }),
  );
  await tellAnswers(deps, nodeOf(look), ended);
  const saved = await save(look, remember(rest, ended), addDuration(look.now, SOON));
  if (!saved.written) return saved;
  await reportEnd(parts, active, outcome, look);
  return proceed(run);
}

async function reportEnd(parts: Parts, active: ActiveDrain, outcome: DrainOutcome, look: Look): Promise<void> {
  const { status, reason, message, left } = outcome;
  const details: JsonObject = { id: active.id, status, reason, drained: active.drained, left: [...left] };
  const event = ENDS[status];
  await report(parts, look, {
    decision: 'end',
    reason: event.reason,
    message: `drain ${active.id}: ${message}`,
    details,
    metric: { name: 'DrainCompleted', dimensions: { status } },
    event: { type: event.type },
  });
  if (left.length === 0) return;
  await parts.deps.events.record({
    type: 'Warning',
    reason: EVENT_REASONS.drainLeftPods,
    message: `not waited for: ${left.join(', ')}`,
    about: look.object,
  });
}

const ENDS = {
  Succeeded: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  AlreadyDrained: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  Failed: { type: 'Warning', reason: EVENT_REASONS.drainFailed },
  Cancelled: { type: 'Normal', reason: EVENT_REASONS.drainCancelled },
} as const;
