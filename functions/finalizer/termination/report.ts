/** Reports a termination while it is under way: by audit line, metric and Event. */
import type { FinalizerContext } from '../common/context.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import type { HookPoint } from '../../../shared/domain/termination.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import type { Report } from '../../../shared/lifecycle/reporter.ts';
import type { StepsOutcome } from './steps.ts';
import type { Announcement } from './rule/turn.ts';
import { lastMessageOf, progressOf } from './rule/hook-progress.ts';
import { ownershipOf } from './rule/instance.ts';
import type { TerminationDecision } from './decide.ts';
import type { UnawaitedNews } from './rule/hooks.ts';
import { isKarpenters } from './rule/objects.ts';
import { claimAndNodes, type StepContext } from './context.ts';
import type { ObservedTermination } from './observe.ts';
import type { HookProgress, TerminationRecord } from './record.ts';

/** Context of a report about a termination. */
export interface ReportContext extends FinalizerContext {
  readonly observed: Pick<ObservedTermination, 'claim' | 'nodes'>;
}

/** Tells of NodeClaim and Nodes alike: an Event on each, one audit line that names them all. */
export async function reportOnAll(context: ReportContext, report: Omit<Report, 'about'>): Promise<void> {
  const [first, ...others] = claimAndNodes(context);
  if (first === undefined) return;
  const named = others.length === 0 ? {} : { nodes: others.map(({ metadata }) => metadata.name) };
  await context.reporter.report({ ...report, details: { ...named, ...report.details }, about: first });
  if (report.event === undefined) return;
  const { type, reason = report.reason, message = report.message } = report.event;
  for (const about of others) await context.deps.events.record({ type, reason, message, about });
}

/** The outcome of steps that wait or fail. */
export type StepWait = Exclude<StepsOutcome, { kind: 'done' | 'progressed' }>;

export const messageOfWait = (outcome: StepWait): string => (outcome.kind === 'notYet' ? outcome.on : outcome.message);

/** Reports the start once; after a run that died before this was recorded, again (I9). */
export async function reportStart(context: StepContext): Promise<void> {
  const { deadline } = context;
  const end =
    deadline === undefined ? 'without a deadline' : `until ${toTimestamp(deadline.time)} (${deadline.source})`;
  await reportOnAll(context, {
    decision: 'terminate',
    reason: EVENT_REASONS.terminationStarted,
    message: `the termination has begun, ${end}`,
    details: { deadline: deadline === undefined ? null : toTimestamp(deadline.time), nodes: nodesOf(context) },
    metric: { name: 'TerminationStarted' },
    event: { type: 'Normal' },
  });
}

/** Reports a deadline annotation that cannot be read. @param shown the annotation's value */
export async function reportBadTimestamp(context: StepContext, shown: string): Promise<void> {
  const { deadline } = context;
  const end = deadline === undefined ? 'there is no deadline' : `the deadline is ${toTimestamp(deadline.time)}`;
  await reportOnAll(context, {
    decision: 'refuse',
    reason: EVENT_REASONS.invalidTerminationTimestamp,
    message: `the deadline annotation ${JSON.stringify(shown)} is not RFC 3339 and counts as absent: ${end}`,
    event: { type: 'Warning' },
  });
}

/** Reports that the deadline is another than was said. It is a warning where it is nearer: pods have less time. */
export async function reportDeadline(
  context: StepContext,
  { before, now }: Extract<Announcement, { kind: 'deadline' }>,
): Promise<void> {
  const by = context.deadline === undefined ? '' : ` (${context.deadline.source})`;
  const was = before === '' ? 'there was none' : `it was ${before}`;
  await reportOnAll(context, {
    decision: 'moveDeadline',
    reason: EVENT_REASONS.terminationDeadlineMoved,
    message:
      now === '' ? `the termination has no deadline any more: ${was}` : `the deadline is ${now}${by} now: ${was}`,
    details: { deadline: now === '' ? null : now, before: before === '' ? null : before },
    event: { type: now !== '' && (before === '' || now < before) ? 'Warning' : 'Normal' },
  });
}

/** Reports that the deadline has come: once, or again as in `reportStart`. */
export async function reportForce(context: StepContext): Promise<void> {
  const { deadline } = context;
  const which = deadline === undefined ? '' : ` ${toTimestamp(deadline.time)} (${deadline.source})`;
  await reportOnAll(context, {
    decision: 'force',
    reason: EVENT_REASONS.terminationForced,
    message: `the deadline${which} has come: pods, volumes and hooks are not waited for${uncalledHooksText(context)}`,
    metric: { name: TERMINATION_METRICS.forced },
    event: { type: 'Warning' },
  });
}

/** Words for the hooks that are not called yet, which have Events of their own. Where no instance ends with it, none is called. */
function uncalledHooksText(context: StepContext): string {
  const hookNames = uncalledHooks(context);
  if (hookNames.length === 0 || ownershipOf(context.observed) !== 'ours') return '';
  return `; ${hookNames.join(', ')} ${hookNames.length === 1 ? 'is' : 'are'} ${leftToOther(context) ?? 'still to be called'}`;
}

/** The hooks of its policy that were not called in this termination. */
function uncalledHooks(context: StepContext): readonly string[] {
  const { hooks } = context.record();
  return (context.settings?.hooks ?? []).filter(({ name }) => !Object.hasOwn(hooks, name)).map(({ name }) => name);
}

/** Words for the NodeClaim whose termination calls the hooks; undefined: no other NodeClaim of the instance has them called. */
const leftToOther = ({ observed: { endedWith } }: StepContext): string | undefined =>
  endedWith && `left to the termination of NodeClaim ${endedWith.name}`;

/** Reports a wait. A refusal was reported when the step was tried. */
export async function reportWait(context: StepContext, outcome: StepWait): Promise<void> {
  if (outcome.kind === 'failed') return;
  const { step, until, on: message, isBlocked = false } = outcome;
  const reason = REASONS[step] ?? 'Waiting';
  const details = { step, until: toTimestamp(until) };
  await reportOnAll(context, { decision: 'wait', reason, message, details });
  const { claim, nodes } = context.observed;
  const about = nodes[0] ?? claim;
  if (about === undefined || (!isBlocked && step !== 'DetachVolumes')) return;
  await context.deps.events.record({ type: isBlocked ? 'Warning' : 'Normal', reason, message, about });
}

/** Reasons of the waits by step, as Karpenter names them where it does. */
const REASONS: Readonly<Record<string, string>> = {
  Drain: EVENT_REASONS.failedDraining,
  DetachVolumes: EVENT_REASONS.awaitingVolumeDetachment,
  TerminateInstance: 'AwaitingInstanceTermination',
};

/** Reports a termination that takes too long. @param waitsOn the step that is not done, in words */
export async function reportOverdue(context: StepContext, waitsOn: string): Promise<void> {
  const { deadline } = context;
  const since =
    deadline === undefined ? 'for a day without a deadline' : `long past its deadline ${toTimestamp(deadline.time)}`;
  await reportOnAll(context, {
    decision: 'overdue',
    reason: EVENT_REASONS.terminationOverdue,
    message: `the termination is under way ${since}: ${waitsOn}`,
    metric: { name: TERMINATION_METRICS.overdue },
    event: { type: 'Warning' },
  });
}

/** Reports a Node that went while its termination was under way: only the end of its finalizer lets it. */
export async function reportLost(context: StepContext, names: readonly string[]): Promise<void> {
  await reportOnAll(context, {
    decision: 'stripped',
    reason: EVENT_REASONS.finalizerStripped,
    message: `Node ${names.join(', ')} went before its termination was over: somebody else took the finalizer off; its pods were not waited for`,
    details: { nodes: [...names] },
    metric: { name: TERMINATION_METRICS.finalizerStripped },
    event: { type: 'Warning' },
  });
}

/** Reports the end, when our finalizer is off every object. `forced` in the audit line says that the deadline did it (I1). */
export async function reportFinish(context: StepContext): Promise<void> {
  const { observed, finalizerNames } = context;
  const found = claimAndNodes(context);
  // A run that took over finds none: whichever it was is off.
  const own = finalizerNames.filter(name => found.some(({ metadata }) => metadata.finalizers?.includes(name)));
  const names = own.length === 0 ? finalizerNames : own;
  const { claim, nodes } = observed;
  // Its NodeClaim was released before.
  const about = context.record().finalizerGone === true ? (nodes[0] ?? claim) : (claim ?? nodes[0]);
  if (about === undefined) return;
  await context.reporter.report({
    about,
    decision: 'release',
    reason: EVENT_REASONS.terminationFinished,
    message: `everything is done: ${names.join(', ')} is off${endOfHooksText(context)}`,
    details: { providerID: observed.providerID ?? null, forced: context.isForced, nodes: nodesOf(context) },
    metric: { name: 'TerminationFinished' },
  });
}

function endOfHooksText(context: StepContext): string {
  const hookNames = uncalledHooks(context);
  if (hookNames.length === 0) return '';
  return `; hooks ${hookNames.join(', ')} were ${leftToOther(context) ?? 'not called: no instance ended with it'}`;
}

/** The Nodes that go with it, those that are gone too: one that nothing holds is gone without a line of its own. */
const nodesOf = (context: StepContext): readonly string[] =>
  Object.values(context.record().nodes ?? {}).map(({ name }) => name);

/** Reports a deletion in mode Observe once, when it is first seen. */
export async function reportObserveMode(
  context: ReportContext,
  { deadline }: Extract<TerminationDecision, { kind: 'wouldTerminate' }>,
): Promise<void> {
  const end = deadline === undefined ? '' : `; its deadline is ${toTimestamp(deadline.time)}`;
  await reportOnAll(context, {
    decision: 'wouldTerminate',
    reason: EVENT_REASONS.terminationObserved,
    message: `mode is Observe: nothing is done, the deletion waits${end}`,
    event: { type: 'Normal' },
  });
}

/**
 * Reports the answer of one hook; nothing is said of a worker that is still at it.
 *
 * @param before its progress before the answer: a failure has an Event if its report is a new one
 */
export async function reportHook(
  context: ReportContext,
  name: string,
  progress: HookProgress,
  before: HookProgress | undefined,
): Promise<void> {
  if (progress.phase === 'succeeded') {
    const done = `hook ${name} has done its work`;
    await reportOnAll(context, { decision: 'hook', reason: 'HookSucceeded', message: done, details: { hook: name } });
  }
  if (progress.phase !== 'failed') return;
  const { attempts, message = '', failureReport } = progress;
  await reportOnAll(context, {
    decision: 'hook',
    reason: EVENT_REASONS.terminationHookFailed,
    message: `hook ${name} failed: ${message}`,
    details: { hook: name, attempt: attempts },
    ...(failureReport?.time !== before?.failureReport?.time && { event: { type: 'Warning' } }),
  });
}

/** Reports answers that came by events and have just been stored. @param names of the hooks @param before as they stood */
export async function reportAnswers(
  context: ReportContext,
  names: Iterable<string>,
  before: TerminationRecord['hooks'],
  hooks: TerminationRecord['hooks'],
): Promise<void> {
  for (const name of names) {
    const now = progressOf(hooks, name);
    const was = progressOf(before, name);
    if (now === undefined) {
      await reportOnAll(context, {
        decision: 'ignore',
        reason: 'NothingWaits',
        message: `an answer to hook ${name} came, and no hook of that name was called`,
        details: { hook: name },
      });
    } else if (now.phase !== was?.phase || lastMessageOf(now) !== lastMessageOf(was)) {
      await reportHook(context, name, now, was);
    }
  }
}

/** Reports which hooks of the point were called, and which were not. */
export async function reportUnawaitedHooks(
  context: StepContext,
  at: HookPoint,
  { how, called, uncalled }: UnawaitedNews,
): Promise<void> {
  const wasCalled = called.length === 0 ? [] : [`${namesWere(called)} called, and not waited for`];
  const wasNot = uncalled.length === 0 ? [] : [`not called: ${uncalled.join(', ')}`];
  const { claim } = context.observed;
  const cause =
    claim !== undefined && isKarpenters(claim)
      ? 'Karpenter drains and ends the instance by itself'
      : 'others have ended the instance';
  const why =
    how === 'forced' ? `hooks ${at} at the deadline` : `hooks ${at} hold nothing, because ${cause} (builtin: Keep)`;
  await reportOnAll(context, {
    decision: how === 'forced' ? 'force' : 'hook',
    reason: how === 'forced' ? EVENT_REASONS.terminationHooksForced : EVENT_REASONS.hooksDoNotHold,
    message: `${why}: ${[...wasCalled, ...wasNot].join('; ')}`,
    details: { at, called: [...called], left: [...uncalled] },
    event: { type: 'Warning' },
  });
}

const namesWere = (names: readonly string[]): string => `${names.join(', ')} ${names.length === 1 ? 'was' : 'were'}`;
