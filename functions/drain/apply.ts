/** Carries out what was decided of a node's drains, one turn each. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { addDuration } from '../../shared/domain/time.ts';
import { isRefused } from '../../shared/lifecycle/refusals.ts';
import { DONE, PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { DrainContext } from './context.ts';
import { applyCustom } from './custom-request.ts';
import { nodeOf, publishAnswers } from './drain-completed.ts';
import { close, finish, tidy } from './drain-end.ts';
import { drain, drainAfterIntents, podIntents } from './evictions.ts';
import { deleteLeft } from './left-resources.ts';
import { answerNode, disownCordon, prepareNode } from './node.ts';
import type { ObservedDrain, ObservedNode } from './observe.ts';
import { reportTakenRequest, reportAnswer, reportNotices, reportPause, reportStarted } from './report.ts';
import { answer, cancel, deferRecovery } from './request-end.ts';
import type { FinishedDrain } from './request-record.ts';
import type { ActiveDrain } from './record.ts';
import type { DecisionOf, DrainDecision, Preparation } from './rule/decision.ts';
import { isEndedElsewhere } from './rule/ending.ts';
import { isWaiting } from './rule/phase.ts';
import { formatScope } from './rule/pods.ts';
import { save, saveForSweep, withSaved } from './save.ts';
import {
  endUnchangedTurn,
  okUnlessTransient,
  showOnNode,
  tryChange,
  tryShow,
  type UnmadeChange,
} from './try-change.ts';

/** Carries a decision out. Where a drain begins, its record is written first; where one ends, last. `again` where somebody else wrote meanwhile. */
export async function apply(context: DrainContext, decision: DrainDecision, observed: ObservedNode): Promise<Turn> {
  switch (decision.kind) {
    case 'idle':
      if (decision.until === undefined) return observed.timedRecord.release();
      return save(observed, decision.record, decision.until);
    case 'tidy':
      return tidy(context, decision, observed);
    case 'correctConditions': {
      const shown = await tryShow(context, observed, decision.shown, decision.message);
      return shown === undefined || isRefused(shown) ? endUnchangedTurn(observed, shown) : PROGRESSED;
    }
    case 'disownCordon': {
      const changed = await tryChange(context, observed, 'finish', () => disownCordon(context.deps, observed.object));
      return changed.kind === 'ok' ? PROGRESSED : endUnchangedTurn(observed, changed);
    }
    case 'deleteLeft':
      return deleteLeft(context, observed);
    case 'deferRecovery':
      return deferRecovery(context, decision, observed);
    case 'cancel':
      return cancel(context, decision, observed);
    case 'note': {
      const saved = await saveForSweep(observed, decision.record);
      return saved.written ? PROGRESSED : saved;
    }
    case 'answer':
    case 'take':
    case 'pause':
    case 'begin':
    case 'start':
    case 'queue':
    case 'prepare':
    case 'drain':
    case 'finish':
    case 'close':
    case 'recordResource':
    case 'createResource':
    case 'awaitResource':
    case 'fallBack':
      invariant(observed.kind === 'drain', 'of an idle node neither a request nor a drain is decided');
      return applyToDrain(context, decision, observed);
  }
}

/** Decisions about an idle node, or about any. */
type OfAnyNode =
  'idle' | 'tidy' | 'correctConditions' | 'disownCordon' | 'deleteLeft' | 'deferRecovery' | 'cancel' | 'note';

/** Carries out what was decided of a request, or of the drain under way. */
async function applyToDrain(
  context: DrainContext,
  decision: Exclude<DrainDecision, { kind: OfAnyNode }>,
  observed: ObservedDrain,
): Promise<Turn> {
  switch (decision.kind) {
    case 'answer':
      return answer(context, decision, observed);
    case 'take':
      return takeRequest(context, decision, observed);
    case 'pause':
      return pause(context, decision, observed);
    case 'begin':
      return begin(context, decision, observed);
    case 'start': {
      const saved = await saveForSweep(observed, decision.record);
      if (!saved.written) return saved;
      await reportStarted(context, observed, decision.active);
      // Here, and not where its Node is prepared: the label of a node that is remediated says it is prepared.
      await showInProgress(context, decision.active, observed);
      return PROGRESSED;
    }
    case 'queue':
      return queue(context, decision, observed);
    case 'prepare':
      return prepare(context, decision, observed);
    case 'drain':
      return drain(context, decision, observed);
    case 'finish':
      return finish(context, decision, observed);
    case 'close':
      return isEndedElsewhere({ ...context.run, ...observed }, decision.active)
        ? DONE
        : close(context, decision, observed);
    case 'recordResource':
    case 'createResource':
    case 'awaitResource':
    case 'fallBack':
      return applyCustom(context, decision, observed);
  }
}

async function takeRequest(
  context: DrainContext,
  decision: DecisionOf<'take'>,
  observed: ObservedDrain,
): Promise<Turn> {
  if (decision.replacedEnds.length > 0) {
    const told = await answerReplaced(context, decision.replacedEnds, observed);
    if (told.kind !== 'ok') return endUnchangedTurn(observed, told, true);
  }
  const saved = await saveForSweep(observed, decision.record);
  if (!saved.written) return saved;
  context.run.isMessageDone = true;
  await reportTakenRequest(context, observed, decision);
  return PROGRESSED;
}

/** Says what pauses the drain, and waits. */
async function pause(context: DrainContext, decision: DecisionOf<'pause'>, observed: ObservedDrain): Promise<Turn> {
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  const reported = await reportPause(context, observed, decision);
  const record = { ...observed.record, reported, pausedSince: observed.record.pausedSince ?? observed.now };
  return save(observed, record, addDuration(observed.now, RUN_ENDS_WITHIN));
}

/** Answers the requests that made room for newer ones, before the record forgets them. */
async function answerReplaced(
  context: DrainContext,
  answers: readonly FinishedDrain[],
  observed: ObservedDrain,
): Promise<Exclude<UnmadeChange, undefined> | { kind: 'ok' }> {
  const changed = okUnlessTransient(
    await tryChange(context, observed, 'answer', () => answerNode(context.deps, observed.object, answers)),
  );
  if (changed.kind !== 'ok') return changed;
  await publishAnswers(context.deps, nodeOf(observed), answers);
  for (const each of answers) await reportAnswer(context, observed, each);
  return { kind: 'ok' };
}

async function begin(
  context: DrainContext,
  { record, active, takenRequest, next }: DecisionOf<'begin'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  if (takenRequest !== undefined) {
    context.run.isMessageDone = true;
    await reportTakenRequest(context, observed, { request: takenRequest, position: 'next' });
  }
  if (!isWaiting(active)) await reportStarted(context, observed, active);
  return next === undefined ? PROGRESSED : prepare(context, next, withSaved(observed, record));
}

const showInProgress = (
  context: DrainContext,
  { id, scope }: ActiveDrain,
  observed: ObservedDrain,
): ReturnType<typeof showOnNode> => showOnNode(context, observed, 'inProgress', `drain ${id} of ${formatScope(scope)}`);

/** Says once that the drain waits. */
async function queue(
  context: DrainContext,
  { active, message, until }: DecisionOf<'queue'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const notice = { type: 'Normal', reason: EVENT_REASONS.drainWaits, message } as const;
  const reported = await reportNotices(context, observed, [notice], { reported: active.reported });
  return save(observed, { ...observed.record, active: { ...active, reported } }, until);
}

/**
 * Prepares the Node, then ends pods, by one look: the patch fails if the Node changed since, the write after it if the drain was called off,
 * each eviction if its pod changed. What a run that dies leaves undone, the next look does.
 */
async function prepare(
  context: DrainContext,
  { active, cordon, showDraining, plan }: Preparation,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  // One that waits in the queue is not in progress.
  const node = isWaiting(active) ? observed.object : await showInProgress(context, active, observed);
  if (node === undefined || isRefused(node)) return endUnchangedTurn(observed, node);
  const changed = await tryChange(context, observed, 'prepare', () =>
    prepareNode(deps, node, { active, cordon, showDraining }),
  );
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed);
  const { resourceVersion: nodeVersion } = changed;
  const prepared = { ...active, cordon, nodeVersion };
  const intents = plan && podIntents(active, plan, observed);
  const record = { ...observed.record, active: { ...prepared, ...intents } };
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  // A pod that came before the cordon is not in this look.
  if (plan === undefined || intents === undefined || plan.acts.length === 0) return PROGRESSED;
  const decision = { kind: 'drain', active: prepared, plan, isStuck: false, until: undefined } as const;
  return drainAfterIntents(context, decision, intents, withSaved(observed, record));
}
