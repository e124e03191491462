/** The status of a FinalizerRule: whether it can be used, and whether its kind is watched. */
import type { FinalizerDeps } from '../common/context.ts';
import type { Condition } from '../common/set-condition.ts';
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { statedFinalizerOf } from '../../../shared/contract/finalizer-rule-schema.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import { countedNames } from './rule/counted-names.ts';
import type { FinalizerRuleAcceptance } from './rule/acceptance.ts';
import { isLater } from './record.ts';

/** Field in the status of a FinalizerRule: time when the forwarder found the state that the condition `Watching` shows. */
export const WATCH_TIME = 'watchTime';

/** Whether a report of a watch is newer than the status: an older one may arrive after it. */
export function isNewerWatch(watch: KindWatch, { status }: KubernetesObject): boolean {
  const since = status?.[WATCH_TIME];
  return typeof since !== 'string' || isLater(watch, { since });
}

export function acceptedCondition(acceptance: FinalizerRuleAcceptance): Condition {
  switch (acceptance.kind) {
    case 'inForce':
      return { type: 'Accepted', status: 'True', reason: 'Valid', message: '' };
    case 'invalid':
      return { type: 'Accepted', status: 'False', reason: 'Invalid', message: acceptance.message };
    case 'conflict': {
      const message = `FinalizerRule ${acceptance.olderFinalizerRule} is older and has this kind`;
      return { type: 'Accepted', status: 'False', reason: 'Conflict', message };
    }
  }
}

export function watchingCondition({ state, message = '' }: KindWatch): Condition {
  return { type: 'Watching', status: state === 'Watching' ? 'True' : 'False', reason: state, message };
}

/** Adds to the refusal of a FinalizerRule by which nothing can be cleaned up which objects carry its finalizer, where that can be found out. */
export async function withFinalizedObjects(
  { kubernetes }: Pick<FinalizerDeps, 'kubernetes'>,
  accepted: Condition,
  object: KubernetesObject,
  acceptance: FinalizerRuleAcceptance,
): Promise<Condition> {
  const stated =
    acceptance.kind === 'invalid' && acceptance.cleansUp === undefined ? statedFinalizerOf(object.spec) : undefined;
  const type = stated && (await kubernetes.resolve(stated));
  if (stated === undefined || type === undefined) return accepted;
  const found = await orUnavailable(
    kubernetes.list(type, {}, { project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) }),
  );
  if (found.kind !== 'there') return accepted;
  const objects = found.objects.filter(({ metadata }) => metadata.finalizers?.includes(stated.finalizerName));
  if (objects.length === 0) return accepted;
  return {
    ...accepted,
    message: `${accepted.message}; ${countedNames(objects)} with that finalizer, which the rule leaves alone`,
  };
}
