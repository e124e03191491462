/** Ends of drains: the Node, the custom resource and all who asked learn of it, then the record does. If the Node is gone, all who asked learn that. */
import { causeOf, isRefused, type RefusedChange } from '../../shared/lifecycle/refusals.ts';
import { anotherTurn, PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import type { DrainContext } from './context.ts';
import { deleteResource } from './custom-resource.ts';
import { nodeOf, publishAnswers } from './drain-completed.ts';
import { carryOutPlan, recordIntents } from './evictions.ts';
import { endResource, isResourceGone } from './left-resources.ts';
import { finishNode } from './node.ts';
import type { ObservedDrain, ObservedNode, TargetNode } from './observe.ts';
import type { ActiveDrain, DrainRecord } from './record.ts';
import {
  reportEnd,
  reportForgotten,
  reportReleased,
  reportGone,
  reportGoneAnswer,
  type ReportContext,
} from './report.ts';
import type { DrainOutcome, DrainRequest } from './request-record.ts';
import { toFinished } from './rule/take-request.ts';
import type { DecisionOf, EndPlan } from './rule/decision.ts';
import { endPlanOf, withEnding } from './rule/ending.ts';
import { endOf } from './rule/history.ts';
import { readUnderWay } from './rule/node-annotations.ts';
import { isWaiting, recordedResource } from './rule/phase.ts';
import { FULL } from './rule/pods.ts';
import { withSafetyNet } from './rule/progress.ts';
import { save, saveForSweep, withSaved } from './save.ts';
import { endUnchangedTurn, showOnNode, tryChange, type UnmadeChange } from './try-change.ts';
import { wakeNext } from './wake-ups.ts';

/** Does the last acts of a drain, notes how it ended, and closes it. */
export async function finish(
  context: DrainContext,
  { active, outcome, plan }: DecisionOf<'finish'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const recorded = plan && { plan, ...(await recordIntents(active, plan, observed)) };
  if (recorded?.lostRace !== undefined) return recorded.lostRace;
  const result =
    recorded &&
    (await carryOutPlan(context, observed, { ...active, intents: recorded.intents.askedEvictions }, recorded.plan));
  const drained = active.drained + (result?.drainedCount ?? 0);
  const { record, ...ended } = withEnding(observed, { ...active, drained }, outcome);
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  context.run.endedDrainId = active.id;
  const next = withSaved(observed, record);
  return close(context, { kind: 'close', ...ended, plan: endPlanOf(next, ended.active, ended.ending) }, next);
}

/**
 * Deletes the custom resource, writes the end of the drain on the Node, answers all who asked, and forgets it. Repeated by a run that finds it
 * half done.
 */
export async function close(
  context: DrainContext,
  { active, ending, plan }: DecisionOf<'close'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  const { ended, status, shown, uncordon } = plan;
  const answer = (): Promise<void> => publishAnswers(deps, nodeOf(observed), ended);
  // A change that is refused delays nobody who asked: repair goes on by the answer.
  const endUnchanged = async (changed: UnmadeChange): Promise<Turn> => {
    if (ending.isAnswered || !isRefused(changed) || causeOf(changed.error) === 'passing')
      return endUnchangedTurn(observed, changed);
    await answer();
    const answered = { ...active, phase: { ...ending, isAnswered: true } as const };
    const { until, redeliveryError } = changed;
    return save(observed, { ...observed.record, active: answered }, withSafetyNet(observed, until), {
      redeliveryError,
    });
  };
  const next = await deleteOwnResource(context, active, plan, observed);
  if (isRefused(next)) return endUnchanged(next);
  const node = await showOnNode(context, observed, shown, ending.outcome.message);
  if (node === undefined || isRefused(node)) return endUnchanged(node);
  const changed = await tryChange(context, observed, 'finish', () =>
    finishNode(deps, node, { status, uncordon, ended }),
  );
  if (changed.kind !== 'ok') return endUnchanged(changed);
  if (ending.isAnswered !== true) await answer();
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  await reportEnd(context, observed, active, ending.outcome);
  // The mark is off: should this run die, the first that waits looks by itself.
  if (!isWaiting(active)) await wakeNext(deps, observed);
  const saved = await saveForSweep(observed, next);
  return saved.written ? PROGRESSED : saved;
}

/** Deletes the custom resource of a drain that ends. @returns the record that follows, or a refusal for which the end waits */
async function deleteOwnResource(
  context: DrainContext,
  active: ActiveDrain,
  { record, recordIfResourceStays }: EndPlan,
  observed: ObservedDrain,
): Promise<DrainRecord | RefusedChange> {
  if (recordedResource(active) === undefined) return record;
  const deleted = await tryChange(context, observed, 'deleteResource', () => deleteResource(context.deps, active));
  if (!isRefused(deleted)) return record;
  return deleted.redeliveryError === undefined ? (recordIfResourceStays ?? deleted) : deleted;
}

/**
 * Takes marks of a drain off the Node, if the record, read after the Node, has no drain. One that begins now changes the Node, and this patch
 * conflicts.
 */
export async function tidy(
  context: DrainContext,
  { status, uncordon }: DecisionOf<'tidy'>,
  observed: ObservedNode,
): Promise<Turn> {
  const { deps } = context;
  const { object, timedRecord } = observed;
  const loaded = await timedRecord.load();
  const isIdle =
    loaded.kind === 'none' ||
    (loaded.kind === 'known' && loaded.value.active === undefined && loaded.value.requests.length === 0);
  if (!isIdle) return anotherTurn('a drain has begun');
  const id = readUnderWay(observed.node.underWay)?.id;
  // Also of a drain whose end is known: a cluster that was restored from a snapshot has its custom resource again.
  const resource = id === undefined ? undefined : await endResource(context, observed, id);
  if (isRefused(resource)) return endUnchangedTurn(observed, resource);
  const end = { status, uncordon, ended: [] };
  const changed = await tryChange(context, observed, 'finish', () => finishNode(deps, object, end));
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed);
  if (id !== undefined && endOf(observed.record, id) === undefined)
    await reportForgotten(context, observed, { id, isOpened: uncordon, resource: resource ?? '' });
  else if (uncordon) await reportReleased(context, observed);
  return PROGRESSED;
}

type GoneDrains = GoneSubject<DrainRecord>;

const goneOutcome = (name: string): DrainOutcome => ({
  status: 'Cancelled',
  reason: 'NodeGone',
  message: `there is no node ${name} any more`,
  left: [],
});

/** Answers a request whose Node is gone and has no drain. */
export async function answerGone(
  context: ReportContext,
  { name, uid }: TargetNode,
  request: DrainRequest,
): Promise<void> {
  const { deps } = context;
  const ended = toFinished(request, goneOutcome(name), { now: deps.clock.now(), scope: FULL, drained: 0 });
  await publishAnswers(deps, { name, uid }, [ended]);
  await reportGoneAnswer(context, { name, uid }, ended);
}

/** Closes the drains of a Node that is gone. One whose custom resource must not be deleted is kept until that may go. */
export async function closeGone(context: ReportContext, { name, uid }: TargetNode, gone: GoneDrains): Promise<void> {
  const { deps } = context;
  const { active, requests } = gone.value;
  if (!(await isResourceGone(context, gone))) return;
  const asked = [...(active?.requests ?? []), ...requests];
  const atEnd = { now: deps.clock.now(), scope: active?.scope ?? FULL, drained: active?.drained ?? 0 };
  const ended = asked.map(request => toFinished(request, goneOutcome(name), atEnd));
  await publishAnswers(deps, { name, uid }, ended);
  await gone.timedRecord.closeNow();
  if (ended.length > 0) await reportGone(context, { name, uid }, ended);
}
