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

/** Says that nothing has moved for hours, and what blocks the drain. */
export async function reportStuck(
  { reporter }: Pick<DrainContext, 'reporter'>,
  active: ActiveDrain,
  notices: readonly Notice[],
  observed: ObservedDrain,
): Promise<ActiveDrain> {
  const { progress = { pods: 0, time: active.startTime } } = active;
  const since = notedResource(active)?.seen?.since ?? progress.time;
  const blocked = notices.map(({ message }) => message).join('; ');
  const hours = Math.floor(durationBetween(since, observed.now) / 3_600_000);
  const message = `nothing has moved for ${hours} h, since ${toTimestamp(since)}: ${blocked || 'pods do not go'}`;
  const reason = EVENT_REASONS.drainStuck;
  await reporter.report({ about: observed.object, decision: 'wait', reason, message, event: { type: 'Warning' } });
  return { ...active, progress: { ...progress, saidTime: observed.now } };
}

/**
 * Says those that the text of the last time does not have.
 *
 * @param how `isReportRepeated`: why pods are left is said once more: the API server forgets Events after an hour
 * @returns the text to remember
 */
export async function reportNew(
  reporter: Reporter,
  { object }: Pick<ObservedDrain, 'object'>,
  notices: readonly Notice[],
  { before, isReportRepeated = false }: { readonly before: string | undefined; readonly isReportRepeated?: boolean },
): Promise<string> {
  const said = new Set((before ?? '').split('\n'));
  const lines = notices.map(({ reason, message }) => `${reason} ${message.replaceAll('\n', ' ')}`);
  for (const [index, { type, reason, message }] of notices.entries()) {
    const isRepeated = said.has(lines[index] ?? '');
    if (isRepeated && !(isReportRepeated && reason === EVENT_REASONS.failedDraining)) continue;
    await reporter.report({ about: object, decision: 'wait', reason, message, isRepeated, event: { type } });
  }
  return lines.join('\n');
}
