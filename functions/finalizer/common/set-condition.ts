/** Conditions on the status of an object. */
import { fieldsOf, isJsonObject, listIn, textOrEmpty } from '../../../shared/domain/json.ts';
import type { JsonObject, JsonValue, KubernetesObject, ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { changeExactly, changeStatus } from '../../../shared/ports/exact-change.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { orRejected, type RejectedCall } from '../../../shared/ports/read-answer.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** `absent` takes the condition off. */
export type ConditionChange = Condition | { readonly type: string; readonly status: 'absent' };

export interface StatusWrite {
  readonly conditions: readonly ConditionChange[];
  /** Time when a condition changed its status, unless the condition says so itself. */
  readonly now: EpochMs;
  /** Other fields of the status. */
  readonly fields?: JsonObject;
  /** The kind is the user's, and may have no subresource `status`: then that is a field like any other. */
  readonly mayLackSubresource?: boolean;
}

/**
 * Writes conditions, but nothing where the status keeps something else under `conditions`.
 *
 * @returns `ok`: also where the object is gone. `changed`: somebody else wrote meanwhile, and nothing is written. A refusal by a schema or an
 * admission policy is an answer, too: a status informs, and only what is read of it alone waits for it
 */
export async function setConditions(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  ref: ObjectRef,
  object: KubernetesObject,
  { conditions, now, fields = {}, mayLackSubresource = false }: StatusWrite,
): Promise<'ok' | 'changed' | RejectedCall> {
  if (isSomethingElse(object)) return 'ok';
  const storedConditions = readConditions(object.status?.['conditions']);
  const changed = conditions.filter(change => {
    const old = storedConditions.find(({ type }) => type === change.type);
    if (change.status === 'absent') return old !== undefined;
    return old?.status !== change.status || old.reason !== change.reason || old.message !== change.message;
  });
  const isSame = Object.entries(fields).every(([key, value]) => object.status?.[key] === value);
  if (changed.length === 0 && isSame) return 'ok';
  const types = new Set(changed.map(({ type }) => type));
  const { generation } = object.metadata;
  const written = changed.flatMap((change): JsonObject[] => {
    if (change.status === 'absent') return [];
    const old = storedConditions.find(({ type }) => type === change.type);
    const since = old?.status === change.status ? old.lastTransitionTime : undefined;
    // A Node's conditions are the kubelet's, and know no generation.
    const observed = generation === undefined || object.kind === 'Node' ? {} : { observedGeneration: generation };
    return [{ ...change, lastTransitionTime: toTimestamp(since ?? now), ...observed }];
  });
  const kept = listIn(object.status, 'conditions').filter(condition => !types.has(typeOf(condition)));
  const status = { ...fields, conditions: [...kept, ...written] };
  const first = await orRejected(changeStatus(kubernetes, ref, object.metadata, status));
  const isElsewhere = first.kind === 'notFound' && mayLackSubresource;
  const outcome = isElsewhere ? await orRejected(changeExactly(kubernetes, ref, object.metadata, { status })) : first;
  if (outcome.kind === 'rejected') return outcome;
  return outcome.kind === 'conflict' ? 'changed' : 'ok';
}

/** Whether a kind keeps something else under `status` or `status.conditions`, such as a map: a list in its place would destroy it (I7). */
function isSomethingElse({ status }: KubernetesObject): boolean {
  if (status === undefined || status === null) return false;
  const conditions = isJsonObject(status) ? status['conditions'] : status;
  return conditions !== undefined && conditions !== null && !Array.isArray(conditions);
}

/** Whether the object's status says so already. */
export function hasCondition(object: KubernetesObject, { type, status, reason, message }: Condition): boolean {
  const stored = readConditions(object.status?.['conditions']).find(each => each.type === type);
  return stored?.status === status && stored.reason === reason && stored.message === message;
}

const typeOf = (condition: JsonValue): string => textOrEmpty(fieldsOf(condition)['type']);
