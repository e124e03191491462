/**
 * Whether the repair of a node that is due is held by what only Curfew's table knows: limits on concurrent repairs, a ramp, futility.
 * Told by the Event on the Node, which is recorded again every five minutes while it is so.
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { addDuration, isDue, minutes, parseTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { LifecycleExplanation } from './lifecycle.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

/** Older than this it is not so any more: five minutes, and the time that a pass takes. */
const HOLDS_FOR = minutes(6);

/** Unchanged, but for a repair that is due and has a `NodeRepairBlocked` Event younger than `HOLDS_FOR`. */
export async function withHold(
  kubernetes: KubernetesApi,
  lifecycle: LifecycleExplanation,
  { name, uid }: Pick<NodeView, 'name' | 'uid'>,
  now: EpochMs,
): Promise<LifecycleExplanation> {
  const { repair } = lifecycle;
  if (repair.kind !== 'due') return lifecycle;
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name},reason=${EVENT_REASONS.nodeRepairBlocked}`;
  const events = objectsOf(await kubernetes.list(RESOURCES.Event, { fieldSelector }), { notServed: 'notKnown' });
  const held = events.find(event => isAbout(event, uid) && isFresh(event, now));
  if (held === undefined) return lifecycle;
  const message = `${repair.message}; held: ${textOf(held['message'])}`;
  return { ...lifecycle, repair: { ...repair, kind: 'blocked', message } };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function isAbout(event: KubernetesObject, uid: string): boolean {
  const about = event['involvedObject'];
  return typeof about === 'object' && about !== null && 'uid' in about && about.uid === uid;
}

function isFresh(event: KubernetesObject, now: EpochMs): boolean {
  const time = parseTimestamp(textOf(event['lastTimestamp']));
  return time !== undefined && !isDue(now, addDuration(time, HOLDS_FOR));
}
