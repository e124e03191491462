/** Reports about drains and the requests for them: audit lines, metrics, Events. */
import { DRAIN_METRICS } from '../../shared/contract/metrics.ts';
import { aboutNode } from '../../shared/domain/node.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { nodeOfRequest } from '../../shared/domain/source.ts';
import { durationBetween, toTimestamp } from '../../shared/domain/time.ts';
import { reportLasting, type Report } from '../../shared/lifecycle/reporter.ts';
import type { NodeMessage } from './bus-event.ts';
import type { DrainContext } from './context.ts';
import type { ObservedNode, TargetNode } from './observe.ts';
import type { ActiveDrain, CustomProgress, DrainRecord } from './record.ts';
import type { DrainOutcome, FinishedDrain } from './request-record.ts';
import type { DecisionOf } from './rule/decision.ts';
import { isEnding, recordedResource } from './rule/phase.ts';
import { formatScope } from './rule/pods.ts';

/** The tools of a report. */
export type ReportContext = Pick<DrainContext, 'deps' | 'reporter'>;
/** The Node that a report is about. */
export type ReportedNode = Pick<ObservedNode, 'object'>;

/** Reports one audit line, metric and Event about the Node. */
const reportOnNode = (
  { reporter }: ReportContext,
  { object }: ReportedNode,
  what: Omit<Report, 'about'>,
): Promise<void> => reporter.report({ ...what, about: object });

const idsOf = (requests: readonly { readonly id: string }[]): readonly string[] => requests.map(({ id }) => id);

/** Reports a request that is in the record by now. */
export const reportTakenRequest = (
  context: ReportContext,
  observed: ReportedNode,
  { request, position }: Pick<DecisionOf<'take'>, 'request' | 'position'>,
): Promise<void> =>
  reportOnNode(context, observed, {
    decision: 'take',
    reason: position === 'joins' ? 'DrainJoined' : position === 'follows' ? 'DrainQueued' : 'DrainAsked',
    message: `${request.requestedBy} asks for a drain: ${request.event.message || request.event.checkName || 'a HealthEvent'}`,
    details: { id: request.id },
  });

/**
 * Reports a request for which no drain begins. @param news `isReported`: an Event says how to ask again for what is too old; `isFailed`: one says
 * that the drain failed
 */
export const reportAnswer = (
  context: ReportContext,
  observed: ReportedNode,
  answer: FinishedDrain,
  { novelty, isFailed, isReported }: AnswerNews = { novelty: 'new', isFailed: false, isReported: false },
): Promise<void> =>
  reportOnNode(context, observed, {
    decision: 'answer',
    reason: answer.reason,
    message: `${answer.status}: ${answer.message}`,
    details: { id: answer.id, status: answer.status, repeated: novelty === 'repeated' },
    ...(isFailed && { event: { type: 'Warning', reason: EVENT_REASONS.drainFailed } }),
    ...(novelty === 'tooOld' && { metric: { name: EVENT_REASONS.staleEvent } }),
    ...(isReported && { event: { type: 'Warning', message: askAgain(answer, observed.object.metadata.name) } }),
  });

interface AnswerNews extends Pick<DecisionOf<'answer'>, 'novelty'> {
  readonly isFailed: boolean;
  readonly isReported: boolean;
}

const askAgain = ({ id, message }: FinishedDrain, node: string): string =>
  `nothing is drained for ${id}: ${message}. If the fault stands, curfew drain ${node} asks for the drain`;

/** Reports requests that are called off. @param isReleased the Node is changed as `releasesNode` says */
export const reportCancelled = (
  context: ReportContext,
  observed: ReportedNode,
  { record, because, answers, releasesNode }: DecisionOf<'cancel'>,
  isReleased: boolean,
): Promise<void> => {
  const stays = releasesNode ? ': the change that releases the node is refused' : forOthers(record);
  return reportOnNode(context, observed, {
    decision: isReleased ? 'release' : 'cancel',
    reason: EVENT_REASONS.drainCancelled,
    message: `${because}${isReleased ? `: ${RELEASED}` : stays}`,
    ...detailsOf(answers),
  });
};

const RELEASED = 'nothing keeps the node any more';

/** Reports that the Node is released, after that was refused. */
export const reportReleased = (context: ReportContext, observed: ReportedNode): Promise<void> =>
  reportOnNode(context, observed, { decision: 'release', reason: EVENT_REASONS.drainCancelled, message: RELEASED });

/** Reports a recovery that ends nothing yet. @param isReported by an Event, too */
export const reportDeferredRecovery = (
  context: ReportContext,
  observed: ReportedNode,
  { message, isReported }: { readonly message: string; readonly isReported: boolean },
): Promise<void> =>
  reportOnNode(context, observed, {
    decision: 'wait',
    reason: EVENT_REASONS.drainRecoveryHeld,
    message: `a recovery was reported: ${message}`,
    ...(isReported && { event: { type: 'Warning' } }),
  });

/** Details with the ids of ended requests. A drain that is called off as a whole answers its requests with its own end. */
const detailsOf = (answers: readonly FinishedDrain[]): Pick<Report, 'details'> =>
  answers.length === 0 ? {} : { details: { ids: idsOf(answers) } };

function forOthers({ active }: DrainRecord): string {
  if (active === undefined || isEnding(active)) return '';
  return `: drain ${active.id} goes on for ${idsOf(active.requests).join(', ')}`;
}

/** Reports a pause of drains once. @returns the text to remember */
export function reportPause(
  context: ReportContext,
  observed: Pick<ObservedNode, 'object' | 'record'>,
  { reason, message }: DecisionOf<'pause'>,
): Promise<string> {
  const isNotServed = reason === EVENT_REASONS.kindNotServed;
  const report = (): Promise<void> =>
    reportOnNode(context, observed, {
      decision: isNotServed ? 'wait' : 'hold',
      reason: isNotServed ? EVENT_REASONS.kindNotServed : EVENT_REASONS.drainHeld,
      message,
      event: { type: 'Warning' },
    });
  return reportLasting([{ text: `${reason} ${message}`, report }], observed.record.reported);
}

export async function reportStarted(
  context: ReportContext,
  observed: ReportedNode,
  active: ActiveDrain,
): Promise<void> {
  const [first] = active.requests;
  const about = first === undefined ? '' : `: ${first.event.checkName || 'a HealthEvent'} from ${first.requestedBy}`;
  await reportOnNode(context, observed, {
    decision: 'begin',
    reason: EVENT_REASONS.drainStarted,
    message: `drain ${active.id} of ${formatScope(active.scope)} has begun${about}`,
    details: { id: active.id, ids: idsOf(active.requests), force: active.force },
    metric: { name: 'DrainStarted' },
    event: { type: 'Normal' },
  });
}

/** Reports a custom resource that asks for the drain. @param made `pods`: how many it is about */
export const reportResourceCreated = (
  context: ReportContext,
  observed: ReportedNode,
  { id }: ActiveDrain,
  { resource, pods }: { readonly resource: CustomProgress; readonly pods: number },
): Promise<void> => {
  const { kind, namespace, name, uid = null, recreated } = resource;
  return reportOnNode(context, observed, {
    decision: 'createResource',
    reason: 'CustomDrainRequested',
    message: `${kind} ${namespace}/${name} asks for the drain`,
    details: { id, uid, pods, recreated },
  });
};

/** Reports that the custom resource is given up. @param because why */
export const reportFallBack = (
  context: ReportContext,
  observed: ReportedNode,
  { id }: ActiveDrain,
  because: string,
): Promise<void> =>
  reportOnNode(context, observed, {
    decision: 'fallBack',
    reason: EVENT_REASONS.customDrainFellBack,
    message: `pods are no longer left to the custom resource, they are drained by their modes: ${because}`,
    details: { id },
    event: { type: 'Warning' },
  });

const ENDS = {
  Succeeded: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  AlreadyDrained: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  Failed: { type: 'Warning', reason: EVENT_REASONS.drainFailed },
  Cancelled: { type: 'Normal', reason: EVENT_REASONS.drainCancelled },
} as const;

export async function reportEnd(
  context: ReportContext,
  observed: ReportedNode,
  { id, requests, drained }: ActiveDrain,
  { status, reason, message, left }: DrainOutcome,
): Promise<void> {
  const ids = idsOf(requests);
  const end = ENDS[status];
  await reportOnNode(context, observed, {
    decision: 'end',
    reason: end.reason,
    message: `drain ${id}${ids.includes(id) ? '' : `, which went on for ${ids.join(', ')}`}: ${message}`,
    details: { id, ids, status, reason, drained, left: [...left] },
    metric: { name: DRAIN_METRICS.completed, dimensions: { status } },
    event: { type: end.type },
  });
  if (left.length === 0) return;
  await context.deps.events.record({
    type: 'Warning',
    reason: EVENT_REASONS.drainLeftPods,
    message: `not waited for${status === 'Failed' ? ' any more' : ''}: ${left.join(', ')}`,
    about: observed.object,
  });
}

/** Reports a drain that only the Node knows: nobody can follow it, or answer those who asked (I9). @param resource what became of its custom resource */
export async function reportForgotten(
  context: ReportContext,
  observed: Pick<ObservedNode, 'object' | 'node'>,
  { id, isOpened, resource }: { readonly id: string; readonly isOpened: boolean; readonly resource: string },
): Promise<void> {
  const { node } = observed;
  const cordon = node.unschedulable && !isOpened ? 'the node stays cordoned, ' : '';
  const custom = resource === '' ? '' : `${resource}; `;
  const next =
    nodeOfRequest(id) === node.uid
      ? 'repair asks for another one if it needs that'
      : `ask for it again with: curfew drain ${node.name}`;
  await reportOnNode(context, observed, {
    decision: 'end',
    reason: ENDS.Cancelled.reason,
    message: `drain ${id}: no record of it is left, and Curfew goes no further with it; ${custom}${cordon}${next}`,
    details: { id, ids: [id], status: 'Cancelled', reason: 'RecordLost', drained: 0, left: [] },
    event: { type: 'Warning' },
  });
}

/** Reports a request whose Node is gone, and for which no drain began. */
export const reportGoneAnswer = (
  { reporter }: ReportContext,
  target: TargetNode,
  { id, status, reason, message }: FinishedDrain,
): Promise<void> =>
  reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason,
    message: `${status}: ${message}`,
    details: { id, status },
  });

/** Reports drains whose Node is gone. */
export const reportGone = (
  { reporter }: ReportContext,
  target: TargetNode,
  answers: readonly FinishedDrain[],
): Promise<void> =>
  reporter.report({
    about: aboutNode(target),
    decision: 'close',
    reason: 'SubjectGone',
    message: `node ${target.name} is gone, its drain is closed`,
    details: { ids: idsOf(answers) },
  });

/** Reports a message that belongs to another cluster. */
export const reportOtherCluster = (
  { deps, reporter }: ReportContext,
  target: TargetNode,
  id: string,
  cluster: string,
): Promise<void> =>
  reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason: 'OtherCluster',
    message: `the event is from cluster ${JSON.stringify(cluster)}, and this one is ${deps.cluster}; clusterNames lists further names`,
    details: { id, cluster },
    metric: { name: 'OtherCluster' },
  });

/** Reports an event that asks for nothing, since its node is not quarantined. */
export const reportNotQuarantined = (
  { reporter }: ReportContext,
  target: TargetNode,
  id: string,
  { message, status }: Extract<NodeMessage['incoming'], { kind: 'notQuarantined' }>,
): Promise<void> =>
  reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason: 'NotQuarantined',
    message: `nothing is drained: ${message}`,
    details: { id, nodeQuarantined: status ?? null },
  });

/** Reason why a drain waits. */
export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Says each notice once, until it changes. @param reported the text of the time before @returns the text to remember */
export function reportNotices(
  context: ReportContext,
  observed: ReportedNode,
  notices: readonly Notice[],
  { reported, areBlockersDue = false }: { readonly reported: string; readonly areBlockersDue?: boolean },
): Promise<string> {
  const all = notices.map(({ type, reason, message }) => ({
    text: `${reason} ${message}`,
    report: async (isRepeated: boolean): Promise<void> => {
      // The API server forgets Events after an hour.
      if (isRepeated && reason !== EVENT_REASONS.failedDraining) return;
      await reportOnNode(context, observed, { decision: 'wait', reason, message, isRepeated, event: { type } });
    },
  }));
  return reportLasting(all, reported, { isRepeatDue: areBlockersDue });
}

/** Reports that nothing has moved for hours, and what blocks the drain. @returns the drain with the time of the report */
export async function reportStuck(
  context: ReportContext,
  observed: Pick<ObservedNode, 'object' | 'now'>,
  active: ActiveDrain,
  notices: readonly Notice[],
): Promise<ActiveDrain> {
  const { now } = observed;
  const { progress = { pods: 0, time: active.startTime } } = active;
  const since = recordedResource(active)?.seen?.since ?? progress.time;
  const blocked = notices.map(({ message }) => message).join('; ');
  const hours = Math.floor(durationBetween(since, now) / 3_600_000);
  await reportOnNode(context, observed, {
    decision: 'wait',
    reason: EVENT_REASONS.drainStuck,
    message: `nothing has moved for ${hours} h, since ${toTimestamp(since)}: ${blocked || 'pods do not go'}`,
    event: { type: 'Warning' },
  });
  return { ...active, progress: { ...progress, saidTime: now } };
}
