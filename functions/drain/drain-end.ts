/**
 * How drains end: the Node, the custom resource and all who asked learn of it, then the record does. Of a Node that is gone all who asked learn
 * that.
 */
import { DRAIN_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { isRefusal, createTries, reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { About } from '../../shared/lifecycle/reporter.ts';
import { again, ONWARD, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import { toFinished } from './rule/admission.ts';
import { isCordonKnown } from './rule/cancellation.ts';
import {
  withSaved,
  nodeOf,
  endUnchangedTurn,
  report,
  saveForSweep,
  showOnNode,
  tryChange,
  type DrainContext,
} from './context.ts';
import { deleteResource, resourceOf } from './custom-resource.ts';
import type { DrainDecision } from './rule/decision.ts';
import { publishAnswers } from './drain-completed.ts';
import { carryOutPlan, noteActs } from './evictions.ts';
import { endOf, hasNoStandingEnd, remember } from './rule/history.ts';
import { finishNode } from './node.ts';
import type { ObservedDrain, SoughtNode } from './observe.ts';
import { readUnderWay } from './rule/node-annotations.ts';
import { endingBy, isWaiting } from './rule/phase.ts';
import { FULL } from './rule/pods.ts';
import type { ActiveDrain, DrainRecord } from './record.ts';
import type { DrainOutcome, DrainRequest } from './request-record.ts';
import { wakeNext } from './wake-ups.ts';

type DecisionOf<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** Does the last acts of a drain, notes how it ended, and closes it. */
export async function finish(
  context: DrainContext,
  { active, outcome, plan }: DecisionOf<'finish'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const acts = plan && { plan, ...(await noteActs(active, plan, observed)) };
  if (acts?.lostRace !== undefined) return acts.lostRace;
  const result =
    acts && (await carryOutPlan(context, observed, { ...active, intents: acts.notes.askedEvictions }, acts.plan));
  const ending = endingBy(active, outcome, observed.now);
  const ended = { ...active, drained: active.drained + (result?.drainedCount ?? 0), phase: ending };
  // Those that end with it wait no more.
  const requests = observed.record.requests.filter(({ id }) => !ended.requests.some(each => each.id === id));
  const record = { ...observed.record, requests, active: ended };
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  context.run.endedDrainId = active.id;
  return close(context, { kind: 'close', active: ended, ending }, withSaved(observed, record));
}

/** Deletes what the drain made, writes its end on the Node, answers who asked, and forgets it. Repeated by a run that finds it half done. */
export async function close(
  context: DrainContext,
  { active, ending: { outcome, over } }: DecisionOf<'close'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps } = context;
  const { active: _, ...rest } = observed.record;
  const isOver = active.requests.every(({ id }) => over.includes(id));
  const isLast = (isOver || outcome.status === 'Cancelled') && rest.requests.length === 0 && hasNoStandingEnd(rest);
  const uncordon = isLast && isCordonKnown(observed.record, observed.node);
  // Also where a run that died in between has opened the node.
  const status = isLast && (uncordon || !observed.node.unschedulable) ? 'Cancelled' : outcome.status;
  const deleted = await tryChange(context, observed, 'deleteResource', () => deleteResource(deps, active));
  if (isRefusal(deleted)) return endUnchangedTurn(observed, deleted);
  const { scope, startTime, drained } = active;
  const ended = active.requests.map(request => ({
    ...toFinished(request, outcome, { now: observed.now, scope, drained, startTime }),
    recovered: over.includes(request.id),
  }));
  const shown = status === 'Succeeded' ? 'drained' : 'nothing';
  const node = await showOnNode(context, observed, shown, outcome.message);
  if (node === undefined || isRefusal(node)) return endUnchangedTurn(observed, node);
  const changed = await tryChange(context, observed, 'finish', () =>
    finishNode(deps, node, { status, uncordon, ended }),
  );
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed);
  await publishAnswers(deps, nodeOf(observed), ended);
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  await reportEnd(context, active, outcome, observed);
  // The mark is off: should this run die, the first that waits looks by itself.
  if (!isWaiting(active)) await wakeNext(deps, observed);
  const saved = await saveForSweep(observed, remember(rest, ended, observed.node));
  return saved.written ? ONWARD : saved;
}

/** No drain is under way, by the record after the Node: one that begins now changes the Node, and this patch conflicts. */
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
  const end = { status, uncordon, ended: [] };
  const changed = await tryChange(context, observed, 'finish', () => finishNode(deps, object, end));
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed);
  await reportForgotten(context, observed, uncordon);
  return ONWARD;
}

/** The Node said that a drain is under way of which no record is left: nobody can follow it, or answer those who asked (I9). */
async function reportForgotten(context: DrainContext, observed: ObservedDrain, uncordon: boolean): Promise<void> {
  const { node, record } = observed;
  const id = readUnderWay(node.underWay)?.id;
  if (id === undefined || endOf(record, id) !== undefined) return;
  const cordon = node.unschedulable && !uncordon ? 'the node stays cordoned, ' : '';
  const message = `drain ${id}: no record of it is left, and it goes no further; ${cordon}ask for it again with: curfew drain ${node.name}`;
  await report(context, observed, {
    decision: 'end',
    reason: ENDS.Cancelled.reason,
    message,
    details: { id, ids: [id], status: 'Cancelled', reason: 'RecordLost', drained: 0, left: [] },
    event: { type: 'Warning' },
  });
}

async function reportEnd(
  context: DrainContext,
  active: ActiveDrain,
  outcome: DrainOutcome,
  observed: ObservedDrain,
): Promise<void> {
  const { status, reason, message, left } = outcome;
  const ids = active.requests.map(({ id }) => id);
  const details: JsonObject = { id: active.id, ids, status, reason, drained: active.drained, left: [...left] };
  const event = ENDS[status];
  await report(context, observed, {
    decision: 'end',
    reason: event.reason,
    message: `drain ${active.id}${ids.includes(active.id) ? '' : `, which went on for ${ids.join(', ')}`}: ${message}`,
    details,
    metric: { name: DRAIN_METRICS.completed, dimensions: { status } },
    event: { type: event.type },
  });
  if (left.length === 0) return;
  await context.deps.events.record({
    type: 'Warning',
    reason: EVENT_REASONS.drainLeftPods,
    message: `not waited for${status === 'Failed' ? ' any more' : ''}: ${left.join(', ')}`,
    about: observed.object,
  });
}

const ENDS = {
  Succeeded: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  AlreadyDrained: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  Failed: { type: 'Warning', reason: EVENT_REASONS.drainFailed },
  Cancelled: { type: 'Normal', reason: EVENT_REASONS.drainCancelled },
} as const;

type GoneDrains = GoneSubject<DrainRecord>;

/** There is no Node to look at. */
type GoneContext = Pick<DrainContext, 'deps' | 'reporter'>;

const goneOutcome = (name: string): DrainOutcome => ({
  status: 'Cancelled',
  reason: 'NodeGone',
  message: `there is no node ${name} any more`,
  left: [],
});

const targetNode = ({ name, uid }: SoughtNode) => ({ name, ...(uid !== undefined && { uid }) });

const aboutNode = (target: SoughtNode): About => ({ apiVersion: 'v1', kind: 'Node', metadata: targetNode(target) });

/** Answers a request whose Node is gone and has no drain. */
export async function answerGone(
  { deps, reporter }: GoneContext,
  target: SoughtNode,
  request: DrainRequest,
): Promise<void> {
  const ended = toFinished(request, goneOutcome(target.name), { now: deps.clock.now(), scope: FULL, drained: 0 });
  await publishAnswers(deps, targetNode(target), [ended]);
  await reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason: ended.reason,
    message: `Cancelled: ${ended.message}`,
    details: { id: ended.id, status: ended.status },
  });
}

/** Closes its drains; one whose custom resource must not be deleted is kept until that may go. */
export async function closeGone({ deps, reporter }: GoneContext, target: SoughtNode, gone: GoneDrains): Promise<void> {
  const { active, requests } = gone.value;
  if (!(await isResourceGone({ deps, reporter }, gone))) return;
  const asked = [...(active?.requests ?? []), ...requests];
  const { name } = target;
  const asOf = { now: deps.clock.now(), scope: active?.scope ?? FULL, drained: active?.drained ?? 0 };
  const ended = asked.map(request => toFinished(request, goneOutcome(name), asOf));
  await publishAnswers(deps, targetNode(target), ended);
  await gone.record.closeNow();
  if (asked.length === 0) return;
  await reporter.report({
    about: aboutNode(target),
    decision: 'close',
    reason: 'SubjectGone',
    message: `node ${name} is gone, its drain is closed`,
    details: { ids: asked.map(({ id }) => id) },
  });
}

/** Where its deletion is refused, that is said on the custom resource: there is no Node to say it on. */
async function isResourceGone(
  { deps, reporter }: GoneContext,
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
  const { until: wakeTime, goesBack } = deletion;
  await record.save({ subject, value: { ...value, refusals: tries.after(stored) ?? {} }, wakeTime, goesBack });
  return false;
}
