/** The conditions of a Node when one is set, as who writes it does: its transition time moves when the status changes, and only then. */
import { arrayAt, isObject } from '../packages/kube-apiserver/src/json.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../shared/domain/time.ts';
import type { StatedCondition } from './scenario/scenario.ts';

export function withCondition(node: KubernetesObject, stated: StatedCondition, now: EpochMs): readonly JsonValue[] {
  const conditions = arrayAt(node.status ?? {}, 'conditions');
  const isMeant = (each: JsonValue): boolean => isObject(each) && each['type'] === stated.type;
  const before = conditions.find(isMeant);
  const old: JsonObject = isObject(before) ? before : {};
  const { type, status, reason, message } = stated;
  const changes = old['status'] !== status;
  const set: JsonObject = {
    ...(changes ? {} : old),
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(changes && { lastTransitionTime: toTimestamp(now) }),
  };
  return before === undefined ? [...conditions, set] : conditions.map(each => (each === before ? set : each));
}
