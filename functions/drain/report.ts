/** What a drain says while it waits; each sentence once, until it changes. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { listed } from '../../shared/domain/cut-text.ts';
import { qualifiedName } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { durationBetween, toTimestamp } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { DrainContext } from './context.ts';
import type { ObservedDrain } from './observe.ts';
import { notedResource } from './rule/phase.ts';
import type { PodPlan, PodWait } from './rule/pod-plan.ts';
import type { ActiveDrain } from './record.ts';

export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Why pods are left. The first two texts are NVSentinel's. @param refusals which pods must not go, and why */
export function noticesOf({ waits, leftPods }: PodPlan, refusals: readonly string[]): readonly Notice[] {
  const of = (because: PodWait['because']): readonly PodWait[] => waits.filter(each => each.because === because);
  const notices: Notice[] = [];
  const completing = of('Completion').map(({ pod }) => qualifiedName(pod));
  if (completing.length > 0) {
    const message = `Waiting for following pods to finish: [${completing.join(' ')}]`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.awaitingPodCompletion, message });
  }
  const bounded = of('Deadline');
  const [first] = bounded;
  if (first?.until !== undefined) {
    const names = bounded.map(({ pod }) => pod.name).join(' ');
    const namespaces = [...new Set(bounded.map(({ pod }) => pod.namespace))].join(' ');
    const message = `Waiting for following pods to finish: [${names}] in namespace: [${namespaces}] or they will be force deleted on: ${toTimestamp(first.until)}`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.waitingBeforeForceDelete, message });
  }
  const protectedPods = of('Protected').map(
    ({ pod, until }) =>
      `${qualifiedName(pod)} is protected${until === undefined ? '' : ` until ${toTimestamp(until)}`}`,
  );
  const unknown = waits.flatMap(each => (each.because === 'Unknown' ? [each.message] : []));
  const blockers = [...protectedPods, ...unknown, ...refusals];
  if (blockers.length > 0) {
    const message = `pods are left that must not go: ${listed(blockers)}`;
    notices.push({ type: 'Warning', reason: EVENT_REASONS.failedDraining, message });
  }
  const returning = of('ComesBack').map(({ pod }) => controllerOf(pod));
  const ignored = leftPods.flatMap(({ pod, because }) => (because === 'ComesBack' ? [controllerOf(pod)] : []));
  const back = [...new Set([...returning, ...ignored])];
  if (back.length > 0) {
    const then = ignored.length > 0 ? 'are not waited for any more' : 'are evicted again, ever later';
    const message = `pods come back onto the node and ${then}: ${listed(back)}`;
    notices.push({ type: 'Warning', reason: EVENT_REASONS.drainPodsComeBack, message });
  }
  return notices;
}

/** Names the controller of pods that come and go. */
function controllerOf(pod: PodView): string {
  const owner = pod.ownerReferences.find(({ controller }) => controller === true);
  return owner === undefined ? qualifiedName(pod) : `those of ${owner.kind} ${pod.namespace}/${owner.name}`;
}

/** Says something, as in `RecordToSave`; undefined: there is nothing to say. */
type Say = (() => Promise<void>) | undefined;

/** Each in its turn. */
export function sayAll(...says: readonly Say[]): Say {
  const left = says.filter(say => say !== undefined);
  if (left.length === 0) return undefined;
  return async () => {
    for (const say of left) await say();
  };
}

/** That nothing has moved for hours, and what blocks the drain. */
export function stuckNews(
  { reporter }: Pick<DrainContext, 'reporter'>,
  active: ActiveDrain,
  notices: readonly Notice[],
  observed: ObservedDrain,
): { readonly active: ActiveDrain; readonly say: Say } {
  const { progress = { pods: 0, time: active.startTime } } = active;
  const since = notedResource(active)?.seen?.since ?? progress.time;
  const blocked = notices.map(({ message }) => message).join('; ');
  const hours = Math.floor(durationBetween(since, observed.now) / 3_600_000);
  const message = `nothing has moved for ${hours} h, since ${toTimestamp(since)}: ${blocked || 'pods do not go'}`;
  const reason = EVENT_REASONS.drainStuck;
  return {
    active: { ...active, progress: { ...progress, saidTime: observed.now } },
    say: () =>
      reporter.report({ about: observed.object, decision: 'wait', reason, message, event: { type: 'Warning' } }),
  };
}

/**
 * Of notices, those that the text of the last time does not have.
 *
 * @param how `isReportRepeated`: why pods are left is said once more: the API server forgets Events after an hour
 * @returns the text to remember, and what says them
 */
export function newsOf(
  reporter: Reporter,
  { object }: Pick<ObservedDrain, 'object'>,
  notices: readonly Notice[],
  { before, isReportRepeated = false }: { readonly before: string | undefined; readonly isReportRepeated?: boolean },
): { readonly reported: string; readonly say: Say } {
  const said = new Set((before ?? '').split('\n'));
  const lines = notices.map(({ reason, message }) => `${reason} ${message.replaceAll('\n', ' ')}`);
  const says = notices.map(({ type, reason, message }, index): Say => {
    const isRepeated = said.has(lines[index] ?? '');
    if (isRepeated && !(isReportRepeated && reason === EVENT_REASONS.failedDraining)) return undefined;
    return () => reporter.report({ about: object, decision: 'wait', reason, message, isRepeated, event: { type } });
  });
  return { reported: lines.join('\n'), say: sayAll(...says) };
}
