/** Ends of drains: the Node, the custom resource and all who asked learn of it, then the record does. If the Node is gone, all who asked learn that. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { causeOf, isRefusal, createTries, reportWarning, type Refused } from '../../shared/lifecycle/refusals.ts';
import { again, PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import type { DrainContext } from './context.ts';
import { deleteResource, deleteUnrecorded, resourceOf } from './custom-resource.ts';
import { nodeOf, publishAnswers } from './drain-completed.ts';
import { carryOutPlan, recordIntents } from './evictions.ts';
import { finishNode } from './node.ts';
import type { ObservedDrain, TargetNode } from './observe.ts';
import { OWNER, type DrainRecord } from './record.ts';
import { reportEnd, reportForgotten, reportGone, reportGoneAnswer, type ReportContext } from './report.ts';
import type { DrainOutcome, DrainRequest } from './request-record.ts';
import { toFinished } from './rule/admission.ts';
import { isCordonKnown } from './rule/cancellation.ts';
import type { DecisionOf } from './rule/decision.ts';
import { endOf, hasNoEndInForce, remember, withUncordonedMark } from './rule/history.ts';
import { readUnderWay, uncordonedMarkOf } from './rule/node-annotations.ts';
import { endingBy, isWaiting, recordedResource } from './rule/phase.ts';
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
  const ending = endingBy(active, outcome, observed.now);
  const ended = { ...active, drained: active.drained + (result?.drainedCount ?? 0), phase: ending };
  // Requests that end with it no longer wait.
  const requests = observed.record.requests.filter(({ id }) => !ended.requests.some(each => each.id === id));
  // Before the Node is changed, which may be refused until somebody else has cordoned it.
  const record = withUncordonedMark({ ...observed.record, requests, active: ended }, uncordonedMarkOf(observed.node));
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  context.run.endedDrainId = active.id;
  return close(context, { kind: 'close', active: ended, ending }, withSaved(observed, record));
}

/**
 * Deletes the custom resource, writes the end of the drain on the Node, answers all who asked, and forgets it. Repeated by a run that finds it
 * half done.
 */
export async function close(
  context: DrainContext,
  { active, ending }: DecisionOf<'close'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  const { outcome, over } = ending;
  const { scope, startTime, drained } = active;
  const ended = active.requests.map(request => ({
    ...toFinished(request, outcome, { now: observed.now, scope, drained, startTime }),
    recovered: over.includes(request.id),
  }));
  const answer = (): Promise<void> => publishAnswers(deps, nodeOf(observed), ended);
  // A change that is refused holds up nobody who asked: repair goes on by the answer.
  const endUnchanged = async (changed: UnmadeChange): Promise<Turn> => {
    if (ending.isAnswered || !isRefusal(changed) || causeOf(changed.error) === 'passing')
      return endUnchangedTurn(observed, changed);
    await answer();
    const answered = { ...active, phase: { ...ending, isAnswered: true } as const };
    const { until, redeliveryError } = changed;
    return save(observed, { ...observed.record, active: answered }, withSafetyNet(observed, until), {
      redeliveryError,
    });
  };
  const { active: _, ...idleRecord } = observed.record;
  const isOver = active.requests.every(({ id }) => over.includes(id));
  const isLast =
    (isOver || outcome.status === 'Cancelled') && idleRecord.requests.length === 0 && hasNoEndInForce(idleRecord);
  const uncordon = isLast && isCordonKnown(observed.record, observed.node);
  // Also where a run that died in between has opened the node.
  const status = isLast && (uncordon || !observed.node.unschedulable) ? 'Cancelled' : outcome.status;
  if (recordedResource(active) !== undefined) {
    const deleted = await tryChange(context, observed, 'deleteResource', () => deleteResource(deps, active));
    if (isRefusal(deleted)) return endUnchanged(deleted);
  }
  const shown = status === 'Succeeded' ? 'drained' : 'nothing';
  const node = await showOnNode(context, observed, shown, outcome.message);
  if (node === undefined || isRefusal(node)) return endUnchanged(node);
  const changed = await tryChange(context, observed, 'finish', () =>
    finishNode(deps, node, { status, uncordon, ended }),
  );
  if (changed.kind !== 'ok') return endUnchanged(changed);
  if (ending.isAnswered !== true) await answer();
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  await reportEnd(context, observed, active, outcome);
  // The mark is off: should this run die, the first that waits looks by itself.
  if (!isWaiting(active)) await wakeNext(deps, observed);
  const saved = await saveForSweep(observed, remember(idleRecord, ended, observed.node));
  return saved.written ? PROGRESSED : saved;
}

/**
 * Takes marks of a drain off the Node, if the record, read after the Node, has no drain. One that begins now changes the Node, and this patch
 * conflicts.
 */
export async function tidy(
  context: DrainContext,
  { status, uncordon }: DecisionOf<'tidy'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  const { object, store } = observed;
  const loaded = await store.load();
  const isIdle =
    loaded.kind === 'none' ||
    (loaded.kind === 'known' && loaded.value.active === undefined && loaded.value.requests.length === 0);
  if (!isIdle) return again('a drain has begun');
  const id = readUnderWay(observed.node.underWay)?.id;
  const forgottenId = id !== undefined && endOf(observed.record, id) === undefined ? id : undefined;
  const resource = forgottenId === undefined ? undefined : await endResource(context, observed, forgottenId);
  if (isRefusal(resource)) return endUnchangedTurn(observed, resource);
  const end = { status, uncordon, ended: [] };
  const changed = await tryChange(context, observed, 'finish', () => finishNode(deps, object, end));
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed);
  if (forgottenId !== undefined)
    await reportForgotten(context, observed, { id: forgottenId, isOpened: uncordon, resource: resource ?? '' });
  return PROGRESSED;
}

/** Ends the custom drain of which no record is left. @returns what became of its custom resource, or a refusal that may pass within seconds */
async function endResource(context: DrainContext, observed: ObservedDrain, id: string): Promise<string | Refused> {
  const { deps } = context;
  const settings = (await loadConfig(OWNER, deps)).drain?.customDrain;
  const deleted = await tryChange(context, observed, 'deleteResource', () =>
    deleteUnrecorded(deps, settings, observed.node.name, id),
  );
  if (!isRefusal(deleted)) return deleted.deleted === undefined ? '' : `${deleted.deleted} is deleted`;
  if (deleted.redeliveryError !== undefined) return deleted;
  return `its custom resource is left, for its deletion is refused: ${deleted.message}`;
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
  const asOf = { now: deps.clock.now(), scope: active?.scope ?? FULL, drained: active?.drained ?? 0 };
  const ended = asked.map(request => toFinished(request, goneOutcome(name), asOf));
  await publishAnswers(deps, { name, uid }, ended);
  await gone.record.closeNow();
  if (ended.length > 0) await reportGone(context, { name, uid }, ended);
}

/** Whether the custom resource is gone. If its deletion is refused, an Event on the resource says so, because its Node is gone. */
async function isResourceGone(
  { deps, reporter }: ReportContext,
  { record, value, subject }: GoneDrains,
): Promise<boolean> {
  const { active, refusals: stored } = value;
  const made = await resourceOf(deps, active);
  if (made === undefined) return true;
  const report = reportWarning(reporter, made.about, EVENT_REASONS.changeRefused);
  const tries = createTries(deps.clock);
  const change = { key: 'deleteResource', stored, restsOn: [], report };
  const deletion = await tries.make(change, () => deleteResource(deps, active));
  if (!isRefusal(deletion)) return true;
  const { until: wakeTime, redeliveryError } = deletion;
  await record.save({ subject, value: { ...value, refusals: tries.after(stored) ?? {} }, wakeTime, redeliveryError });
  return false;
}
