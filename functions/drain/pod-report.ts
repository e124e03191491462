/** Reports about the pods of a drain: their warnings and ends, and why some are left. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { listed } from '../../shared/domain/cut-text.ts';
import { qualifiedName, type JsonObject } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import type { Report } from '../../shared/lifecycle/reporter.ts';
import { describeBlockedPods, type PodRemoval } from '../../shared/pods/drain-pods.ts';
import type { ReportedNode, Notice, ReportContext } from './report.ts';
import type { PodAct, PodPlan, PodWait } from './rule/pod-plan.ts';

type PodWarning = Extract<PodAct, { kind: 'warn' }>;

/** Reports the coming deletion on the pod, and on the controller that will replace it. */
export async function reportScheduledDeletion(
  { deps, reporter }: ReportContext,
  { pod, deleteTime, onceUnprotected }: PodWarning,
  node: string,
): Promise<void> {
  const { name, namespace, uid } = pod;
  const reason = EVENT_REASONS.deletionScheduled;
  const time = toTimestamp(deleteTime);
  const end = onceUnprotected
    ? `is protected, and deleted once that is taken off, at ${time} at the earliest, unless it ends before`
    : `is deleted at ${time} unless it ends before`;
  await reporter.report({
    about: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } },
    decision: 'warn',
    reason,
    message: `node ${node} is drained: the pod ${end}`,
    details: { node, deleteTime: time, ...(onceUnprotected && { onceUnprotected }) },
    event: { type: 'Warning' },
  });
  const owner = controllerOf(pod);
  if (owner === undefined) return;
  await deps.events.record({
    type: 'Warning',
    reason,
    message: `node ${node} is drained: pod ${name} ${end}`,
    about: { ...owner, metadata: { name: owner.name, namespace, uid: owner.uid } },
  });
}

const controllerOf = ({ ownerReferences }: PodView) => ownerReferences.find(({ controller }) => controller === true);

/** Words the report of a pod that was evicted or deleted. */
export function describeRemoval(removal: PodRemoval, node: string): Omit<Report, 'about' | 'reason' | 'metric'> {
  const { kind, gracePeriodSeconds = null, overriddenProtection } = removal;
  // A drain ends a protected pod only once its NodeClaim is past the instant from which it is terminated by force (I2).
  const isOverridden = overriddenProtection !== undefined;
  const inSpite = isOverridden ? '; it was protected, and its NodeClaim is past its termination timestamp' : '';
  const details: JsonObject = {
    node,
    gracePeriodSeconds,
    ...(isOverridden && { overriddenProtection: overriddenProtection.kind }),
  };
  if (kind === 'evict') return { decision: 'evict', message: `evicted: node ${node} is drained${inSpite}`, details };
  return {
    decision: 'delete',
    message: `deleted with a grace period of ${gracePeriodSeconds} s: node ${node} is drained, and the time for the pod to end by itself is over${inSpite}`,
    details,
    event: { type: 'Normal' },
  };
}

/** Reports the evictions of a plan in one Event on the Node: Events of each pod would be half of what a storm writes (ADR 0016). */
export async function reportEvicted(
  { deps }: ReportContext,
  { object }: ReportedNode,
  pods: readonly PodView[],
): Promise<void> {
  if (pods.length === 0) return;
  const message = `evicted ${pods.length} pod${pods.length === 1 ? '' : 's'}: ${pods.map(qualifiedName).join(', ')}`;
  await deps.events.record({ type: 'Normal', reason: EVENT_REASONS.evicted, message, about: object });
}

/** Reasons why pods are left. The first two texts are NVSentinel's. @param refusals which pods must not go, and why */
export function noticesOf({ waits, leftPods }: PodPlan, notRemoved: readonly string[]): readonly Notice[] {
  const waitsFor = (because: PodWait['because']): readonly PodWait[] => waits.filter(each => each.because === because);
  const notices: Notice[] = [];
  const completing = waitsFor('Completion').map(({ pod }) => qualifiedName(pod));
  if (completing.length > 0) {
    const message = `Waiting for following pods to finish: [${completing.join(' ')}]`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.awaitingPodCompletion, message });
  }
  const bounded = waitsFor('Deadline');
  const [first] = bounded;
  if (first?.until !== undefined) {
    const names = bounded.map(({ pod }) => pod.name).join(' ');
    const namespaces = [...new Set(bounded.map(({ pod }) => pod.namespace))].join(' ');
    const message = `Waiting for following pods to finish: [${names}] in namespace: [${namespaces}] or they will be force deleted on: ${toTimestamp(first.until)}`;
    notices.push({ type: 'Normal', reason: EVENT_REASONS.waitingBeforeForceDelete, message });
  }
  const unknown = waits.flatMap(each => (each.because === 'Unknown' ? [each.message] : []));
  const blocked = describeBlockedPods(waitsFor('Protected'), [...unknown, ...notRemoved]);
  if (blocked !== undefined) notices.push({ type: 'Warning', reason: EVENT_REASONS.failedDraining, message: blocked });
  const returning = waitsFor('ComesBack').map(({ pod }) => nameOfReturning(pod));
  const ignored = leftPods.flatMap(({ pod, because }) => (because === 'ComesBack' ? [nameOfReturning(pod)] : []));
  const back = [...new Set([...returning, ...ignored])];
  if (back.length > 0) {
    const then = ignored.length > 0 ? 'are not waited for any more' : 'are evicted again, ever later';
    const message = `pods come back onto the node and ${then}: ${listed(back)}`;
    notices.push({ type: 'Warning', reason: EVENT_REASONS.drainPodsComeBack, message });
  }
  return notices;
}

/** Names the controller of a pod that comes back, for its pods come and go. */
function nameOfReturning(pod: PodView): string {
  const owner = controllerOf(pod);
  return owner === undefined ? qualifiedName(pod) : `those of ${owner.kind} ${pod.namespace}/${owner.name}`;
}
