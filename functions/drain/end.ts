/**
 * How requests and drains end: the Node, the custom resource and all who asked learn of it, then the record does. Of a Node that is gone all who
 * asked learn that.
 */
import { DRAIN_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, isDue } from '../../shared/domain/time.ts';
import { isRefusal, createTries, warn } from '../../shared/lifecycle/refusals.ts';
import type { About } from '../../shared/lifecycle/reporter.ts';
import { again, ONWARD, type Turn } from '../../shared/lifecycle/settle.ts';
import { isCordonKnown } from './cancellation.ts';
import { carryOutPass } from './carry-out-pass.ts';
import { deleteResource, resourceOf } from './custom-resource.ts';
import type { DrainDecision } from './decision.ts';
import { isFree, remember } from './history.ts';
import { STALE_AGAIN } from './late-events.ts';
import { tellAnswers } from './messages.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import type { ActiveDrain, DrainOutcome, DrainRecord, FinishedDrain, DrainRequest } from './record.ts';
import { answerNode, finishNode } from './node.ts';
import type { Look, Target } from './observe.ts';
import { FULL } from './pods.ts';
import { toFinished } from './requests.ts';
import {
  after,
  nodeOf,
  notChanged,
  orLater,
  report,
  saveForNow,
  shownOn,
  tryChange,
  type DrainContext,
} from './context.ts';
import { wakeNext } from './wake-ups.ts';

type Of<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** Answers a request that no drain is begun for. */
export async function answer(parts: DrainContext, decision: Of<'answer'>, look: Look): Promise<Turn> {
  const { deps, run } = parts;
  const { answer: given, repeated, isOld = false } = decision;
  const isFailed = given.status === 'Failed' && !repeated && !isOld && decision.record.active === undefined;
  const isSaid = isOld && saysAgain(look);
  const record = isSaid ? { ...decision.record, staleSaid: look.now } : decision.record;
  if (look.mode === 'Enforce') {
    const ended = [given];
    const changed = orLater(
      isFailed
        ? await tryChange(parts, look, 'finish', () =>
            finishNode(deps, look.object, { status: 'Failed', uncordon: false, ended }),
          )
        : await tryChange(parts, look, 'answer', () => answerNode(deps, look.object, ended)),
    );
    if (changed.kind !== 'ok') return notChanged(look, changed, !run.taken);
  }
  await tellAnswers(deps, nodeOf(look), [given]);
  const isKept = isOld ? isSaid : !repeated;
  const saved = isKept ? await saveForNow(look, record) : undefined;
  if (saved?.written === false) return saved;
  await report(parts, look, {
    decision: 'answer',
    reason: given.reason,
    message: `${given.status}: ${given.message}`,
    details: { id: given.id, status: given.status, repeated },
    ...(isFailed && { event: { type: 'Warning', reason: EVENT_REASONS.drainFailed } }),
    ...(isOld && { metric: { name: EVENT_REASONS.staleEvent } }),
    ...(isSaid && { event: { type: 'Warning', message: askAgain(given, look.node.name) } }),
  });
  run.taken = true;
  return ONWARD;
}

const saysAgain = ({ record: { staleSaid }, now }: Look): boolean =>
  staleSaid === undefined || isDue(now, addDuration(staleSaid, STALE_AGAIN));

const askAgain = ({ id, message }: FinishedDrain, node: string): string =>
  `nothing is drained for ${id}: ${message}. If the fault stands, curfew drain ${node} asks for the drain`;

/** Answers requests that are withdrawn, and releases the Node where nothing keeps it any more. */
export async function cancel(
  parts: DrainContext,
  { record, because, answers, releases, goesOn = false }: Of<'cancel'>,
  look: Look,
): Promise<Turn> {
  const { deps, run } = parts;
  const uncordon = look.node.cordonMark !== undefined;
  const changed = orLater(
    releases
      ? await tryChange(parts, look, 'finish', () =>
          finishNode(deps, look.object, { status: 'Cancelled', uncordon, ended: answers }),
        )
      : await tryChange(parts, look, 'answer', () => answerNode(deps, look.object, answers)),
  );
  if (changed.kind !== 'ok') return notChanged(look, changed, !run.taken);
  await tellAnswers(deps, nodeOf(look), answers);
  const saved = await saveForNow(look, record);
  if (!saved.written) return saved;
  await report(parts, look, {
    decision: releases ? 'release' : 'cancel',
    reason: EVENT_REASONS.drainCancelled,
    message: releases ? `${because}: nothing keeps the node any more` : `${because}${forOthers(record)}`,
    details: { ids: answers.map(({ id }) => id) },
  });
  if (!goesOn) run.taken = true;
  if (record.active?.end !== undefined) run.ended = record.active.id;
  return ONWARD;
}

function forOthers({ active }: DrainRecord): string {
  if (active === undefined || active.end !== undefined) return '';
  return `: drain ${active.id} goes on for ${active.requests.map(({ id }) => id).join(', ')}`;
}

/** Does the last acts of a drain, notes how it ended, and closes it. */
export async function finish(parts: DrainContext, { active, outcome, pass }: Of<'finish'>, look: Look): Promise<Turn> {
  const result = pass === undefined ? undefined : await carryOutPass(parts, look, active, pass);
  const end = { ...outcome, time: look.now };
  const ended = { ...active, drained: active.drained + (result?.drained ?? 0), end };
  // Those that end with it wait no more.
  const requests = look.record.requests.filter(({ id }) => !ended.requests.some(each => each.id === id));
  const record = { ...look.record, requests, active: ended };
  const saved = await saveForNow(look, record);
  if (!saved.written) return saved;
  parts.run.ended = active.id;
  return close(parts, { kind: 'close', active: ended, outcome: end }, after(look, record));
}

/** Deletes what the drain made, writes its end on the Node, answers who asked, and forgets it. Repeated by a run that finds it half done. */
export async function close(parts: DrainContext, { active, outcome }: Of<'close'>, look: Look): Promise<Turn> {
  const { deps } = parts;
  const { active: _, ...rest } = look.record;
  const { over = [] } = active;
  const isOver = active.requests.every(({ id }) => over.includes(id));
  const isLast = (isOver || outcome.status === 'Cancelled') && rest.requests.length === 0 && isFree(rest);
  const uncordon = isLast && isCordonKnown(look.record, look.node);
  // Also where a run that died in between has opened the node.
  const status = isLast && (uncordon || !look.node.unschedulable) ? 'Cancelled' : outcome.status;
  const deleted = await tryChange(parts, look, 'deleteResource', () => deleteResource(deps, active));
  if (isRefusal(deleted)) return notChanged(look, deleted);
  const { scope, startTime, drained } = active;
  const ended = active.requests.map(request => ({
    ...toFinished(request, outcome, { now: look.now, scope, drained, startTime }),
    recovered: over.includes(request.id),
  }));
  const shown = status === 'Succeeded' ? 'drained' : 'nothing';
  const node = await shownOn(parts, look, shown, outcome.message);
  if (node === undefined || isRefusal(node)) return notChanged(look, node);
  const changed = await tryChange(parts, look, 'finish', () => finishNode(deps, node, { status, uncordon, ended }));
  if (changed.kind !== 'ok') return notChanged(look, changed);
  await tellAnswers(deps, nodeOf(look), ended);
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  await reportEnd(parts, active, outcome, look);
  // The mark is off: should this run die, the first that waits looks by itself.
  if (active.queue === undefined) await wakeNext(deps, look);
  const saved = await saveForNow(look, remember(rest, ended, look.node));
  return saved.written ? ONWARD : saved;
}

/** No drain is under way, by the record after the Node: one that begins now changes the Node, and this patch conflicts. */
export async function tidy(parts: DrainContext, { status, uncordon }: Of<'tidy'>, look: Look): Promise<Turn> {
  const { deps } = parts;
  const { object, store } = look;
  const held = await store.load();
  const isIdle =
    held.kind === 'none' ||
    (held.kind === 'held' && held.value.active === undefined && held.value.requests.length === 0);
  if (!isIdle) return again('a drain has begun');
  const end = { status, uncordon, ended: [] };
  const changed = await tryChange(parts, look, 'finish', () => finishNode(deps, object, end));
  return changed.kind === 'ok' ? ONWARD : notChanged(look, changed);
}

async function reportEnd(parts: DrainContext, active: ActiveDrain, outcome: DrainOutcome, look: Look): Promise<void> {
  const { status, reason, message, left } = outcome;
  const ids = active.requests.map(({ id }) => id);
  const details: JsonObject = { id: active.id, ids, status, reason, drained: active.drained, left: [...left] };
  const event = ENDS[status];
  await report(parts, look, {
    decision: 'end',
    reason: event.reason,
    message: `drain ${active.id}${ids.includes(active.id) ? '' : `, which went on for ${ids.join(', ')}`}: ${message}`,
    details,
    metric: { name: DRAIN_METRICS.completed, dimensions: { status } },
    event: { type: event.type },
  });
  if (left.length === 0) return;
  await parts.deps.events.record({
    type: 'Warning',
    reason: EVENT_REASONS.drainLeftPods,
    message: `not waited for${status === 'Failed' ? ' any more' : ''}: ${left.join(', ')}`,
    about: look.object,
  });
}

const ENDS = {
  Succeeded: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  AlreadyDrained: { type: 'Normal', reason: EVENT_REASONS.drainSucceeded },
  Failed: { type: 'Warning', reason: EVENT_REASONS.drainFailed },
  Cancelled: { type: 'Normal', reason: EVENT_REASONS.drainCancelled },
} as const;

type Gone = GoneSubject<DrainRecord>;

/** There is no Node to look at. */
type GoneContext = Pick<DrainContext, 'deps' | 'reporter'>;

const goneOutcome = (name: string): DrainOutcome => ({
  status: 'Cancelled',
  reason: 'NodeGone',
  message: `there is no node ${name} any more`,
  left: [],
});

const targetNode = ({ name, uid }: Target) => ({ name, ...(uid !== undefined && { uid }) });

const aboutNode = (target: Target): About => ({ apiVersion: 'v1', kind: 'Node', metadata: targetNode(target) });

/** Answers a request whose Node is gone and has no drain. */
export async function answerGone(
  { deps, reporter }: GoneContext,
  target: Target,
  request: DrainRequest,
): Promise<void> {
  const ended = toFinished(request, goneOutcome(target.name), { now: deps.clock.now(), scope: FULL, drained: 0 });
  await tellAnswers(deps, targetNode(target), [ended]);
  await reporter.report({
    about: aboutNode(target),
    decision: 'answer',
    reason: ended.reason,
    message: `Cancelled: ${ended.message}`,
    details: { id: ended.id, status: ended.status },
  });
}

/** Closes its drains; one whose custom resource must not be deleted is kept until that may go. */
export async function closeGone({ deps, reporter }: GoneContext, target: Target, gone: Gone): Promise<void> {
  const { active, requests } = gone.value;
  if (!(await isResourceGone({ deps, reporter }, gone))) return;
  const asked = [...(active?.requests ?? []), ...requests];
  const { name } = target;
  const asOf = { now: deps.clock.now(), scope: active?.scope ?? FULL, drained: active?.drained ?? 0 };
  const ended = asked.map(request => toFinished(request, goneOutcome(name), asOf));
  await tellAnswers(deps, targetNode(target), ended);
  await gone.record.closeGone();
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
async function isResourceGone({ deps, reporter }: GoneContext, { record, value, subject }: Gone): Promise<boolean> {
  const { active, refusals: stored } = value;
  const made = await resourceOf(deps, active);
  if (made === undefined) return true;
  const say = warn(reporter, made.about, EVENT_REASONS.changeRefused);
  const tries = createTries(deps.clock);
  const change = { key: 'deleteResource', stored, restsOn: [], say };
  const deletion = await tries.make(change, () => deleteResource(deps, active));
  if (!isRefusal(deletion)) return true;
  await record.save({ subject, value: { ...value, refusals: tries.after(stored) ?? {} }, wakeTime: deletion.until });
  if (deletion.goesBack !== undefined) throw deletion.goesBack;
  return false;
}
