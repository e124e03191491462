/** Renders, as text for people, what becomes of a node, or of the nodes of a NodePool or policy. */
import { type Answer, requestedId } from '../../functions/drain/explain.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { renderPlan, renderPods, summary } from '../drain/render.ts';
import type { DrainExplanation, LifecycleExplanation } from './lifecycle.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { instant } from './instant.ts';
import { withUnread } from './settings-in-force.ts';
import { policiesText } from './stated-policies.ts';
import { hookText } from './termination-record.ts';

/** Lines about one node. */
export function renderLifecycle(explained: LifecycleExplanation, now: EpochMs): readonly string[] {
  const { repair, termination, drain, policies } = explained;
  return [
    `repair: ${repairText(explained, now)}`,
    ...(repair.does === undefined || repair.since !== undefined ? [] : [`  then it ${repair.does}`]),
    ...terminationLines(termination, now),
    ...drainLines(drain, now),
    `policies: ${policies.length === 0 ? 'none selects this node' : policiesText(policies)}`,
  ];
}

/** Says when a repair comes, by whose settings, and why; or why none comes. */
export function repairText({ repair }: LifecycleExplanation, now: EpochMs): string {
  const { kind, message, dueTime, since, field, source, mode, observedBy } = repair;
  if (since !== undefined)
    return `${kind === 'stuck' ? 'stuck' : 'under way'}, since ${instant(since, now)}${from(source)}: ${message}`;
  if (kind === 'refuse') return message;
  if (dueTime === undefined || kind === 'ignore') return `none: ${message}${from(source)}`;
  if (kind === 'finishing') return `under way${from(source)}: ${message}`;
  const when = dueTime > now ? `due at ${instant(dueTime, now)}` : `due since ${instant(dueTime, now)}`;
  return `${when}${from(source, field)}${mode === 'Observe' ? `, mode Observe${observedBy} (reported, not done)` : ''}: ${message}`;
}

/** The one thing to know first, where it comes without anybody asking for it; undefined: there is no such thing. */
export function headline(
  { repair, termination, drain, worker }: LifecycleExplanation,
  now: EpochMs,
): string | undefined {
  const { kind, dueTime, since, mode } = repair;
  if (termination.since !== undefined) return `has been terminating since ${instant(termination.since, now)}`;
  if (since !== undefined) return `has been under repair since ${instant(since, now)}`;
  if (dueTime === undefined || kind === 'ignore') return drainHeadline(drain, now) ?? workerHeadline(worker);
  const observed = mode === 'Observe' ? ' in mode Enforce' : '';
  const would = mode === 'Observe' ? 'would' : 'will';
  if (dueTime > now) return `${would} be repaired at ${instant(dueTime, now)}${observed}, unless it recovers`;
  const held = kind === 'blocked' || kind === 'vetoed' ? ', and the repair is held' : '';
  return `has been due for repair since ${instant(dueTime, now)}${held}`;
}

const workerHeadline = (worker: string | undefined): string | undefined =>
  worker === undefined ? undefined : `is being worked on by somebody else: ${worker}`;

/** A node that is drained, or waits for it. */
function drainHeadline({ underWay, requested, answer }: DrainExplanation, now: EpochMs): string | undefined {
  if (underWay === undefined) {
    const isAsked = requestedId(requested) !== undefined && answer === undefined;
    return isAsked ? 'is to be drained, and its drain has not begun' : undefined;
  }
  const { since, waits, over } = underWay;
  if (over !== undefined) return `had a drain that is over (${over.status}), and still shows it`;
  return `${waits ? 'waits for its turn to be drained' : 'is being drained'}, asked for ${byWhom(underWay)}${instant(since, now)}`;
}

function terminationLines(termination: LifecycleExplanation['termination'], now: EpochMs): readonly string[] {
  const { message, source, held, waitsFor, pods, hooks } = termination;
  const head = `termination: ${message}${from(source)}`;
  const waits = [
    ...(waitsFor === undefined ? [] : [`  waits: ${waitsFor}`]),
    ...(hooks ?? []).map(hook => `  ${hookText(hook, now)}`),
  ];
  if (held !== undefined) return [head, `  held: ${held}`];
  return pods === undefined
    ? [head, ...waits]
    : [`${head}; under way: ${summary(pods)}`, ...waits, ...renderPods(pods)];
}

const askedFor = (annotation: string): string =>
  annotation.trim() === ''
    ? `${ANNOTATIONS.drainRequested} on the node is empty and asks for nothing: give it an id`
    : `drain ${annotation.trim()} is asked for on the node`;

const askedBefore = ({ id, status, message }: Answer): string =>
  `drain ${id}, which was asked for on the node, is over (${status}: ${message})`;

function drainLines(
  { held, cordonedBy, requested, answer, state, unread, underWay }: DrainExplanation,
  now: EpochMs,
): readonly string[] {
  const shown = state === undefined ? '' : `, its state is ${state}`;
  const cordon = cordonedBy === undefined ? 'none' : `none under way; drain ${cordonedBy} has cordoned the node`;
  const asked = requested === undefined ? '' : `, ${answer === undefined ? askedFor(requested) : askedBefore(answer)}`;
  const holding = held === undefined ? '' : `; ${held}`;
  if (underWay === undefined) return [`drain: ${cordon}${asked}${shown}${holding}`];
  const { id, since, waits, over, plan } = underWay;
  if (over !== undefined) {
    const { status, message } = over;
    return [`drain: ${id} is over (${status}: ${message}); the node shows it until it may be changed`];
  }
  const [, ...details] = renderPlan(plan, '');
  const what = plan.pods.length === 0 ? (plan.held ?? summary(plan.pods)) : summary(plan.pods);
  const head = `drain: ${id} ${waits ? 'waits for its turn' : 'is under way'}, asked for ${byWhom(underWay)}${instant(since, now)}: ${what}`;
  const limits = unread.length === 0 ? [] : [`  limits: ${withUnread('those of the policy', unread)}`];
  return [head, ...limits, ...details];
}

const byWhom = ({ askedBy }: NonNullable<DrainExplanation['underWay']>): string =>
  askedBy === undefined ? '' : `by ${askedBy}, `;

const from = (source: string | undefined, field?: string): string =>
  source === undefined ? '' : `, by ${field === undefined ? '' : `${field} of `}${source}`;
