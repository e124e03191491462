/**
 * How far a termination has come, as conditions on NodeClaim and Nodes: what `kubectl describe` shows. On a NodeClaim that Karpenter
 * terminates too, Karpenter's own conditions are Karpenter's. A condition that cannot be written is written with the next change.
 */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../shared/domain/node.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import type { StepsOutcome } from '../../shared/lifecycle/steps.ts';
import { KARPENTER_FINALIZER } from './decide.ts';
import type { TerminationContext } from './steps/context.ts';

/** On NodeClaim and Node: status `True` while the termination is under way, the step as reason, what it waits on as message. */
export const TERMINATING_CONDITION = 'curfew.dev/Terminating';

interface Shown {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Writes what the steps have reached. Called when that has changed. */
export async function showProgress(
  context: TerminationContext,
  outcome: Exclude<StepsOutcome, { kind: 'done' }>,
): Promise<void> {
  const { claim, nodes } = context.look;
  const message = outcome.kind === 'notYet' ? outcome.on : outcome.message;
  const own: Shown = { type: TERMINATING_CONDITION, status: 'True', reason: reasonOf(outcome.step), message };
  if (claim !== undefined) {
    const isOurs = claim.metadata.finalizers?.includes(KARPENTER_FINALIZER) !== true;
    await write(context, claim, [own, ...(isOurs ? karpenterConditions(outcome.step, message) : [])]);
  }
  for (const node of nodes) await write(context, node, [own]);
}

/** A reason is one word: `Hooks:before-drain` is `HooksBeforeDrain`. */
function reasonOf(step: string): string {
  return step
    .split(/[^A-Za-z]/)
    .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

const ORDER: readonly string[] = ['Drain', 'DetachVolumes', 'Hooks:before-terminate', 'TerminateInstance'];

/** Names, statuses and reasons of Karpenter (reference, §1.2). */
function karpenterConditions(step: string, message: string): readonly Shown[] {
  const reached = ORDER.indexOf(step);
  const shown: Shown[] = [];
  if (reached === 0) shown.push({ type: 'Drained', status: 'Unknown', reason: 'Draining', message });
  if (reached > 0) shown.push({ type: 'Drained', status: 'True', reason: 'Drained', message: '' });
  if (reached === 1) {
    shown.push({ type: 'VolumesDetached', status: 'Unknown', reason: 'AwaitingVolumeDetachment', message });
  }
  if (reached > 1) shown.push({ type: 'VolumesDetached', status: 'True', reason: 'VolumesDetached', message: '' });
  if (reached === 3) {
    shown.push({ type: 'InstanceTerminating', status: 'True', reason: 'InstanceTerminating', message: '' });
  }
  return shown;
}

async function write(
  { deps, now }: TerminationContext,
  seen: KubernetesObject,
  shown: readonly Shown[],
): Promise<void> {
  const { name, uid } = seen.metadata;
  const ref = { type: seen.kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim, name };
  // Read anew: the steps have changed it, and a kubelet writes conditions, too.
  const object = await deps.kubernetes.get(ref);
  if (object?.metadata.uid !== uid) return;
  const before = readConditions(object.status?.['conditions']);
  const raw: readonly JsonValue[] = arrayOf(object.status?.['conditions']);
  const changed = shown.filter(({ type, status, reason, message }) => {
    const old = before.find(condition => condition.type === type);
    return old?.status !== status || old.reason !== reason || old.message !== message;
  });
  if (changed.length === 0) return;
  const written = changed.map((condition): JsonObject => {
    const old = before.find(({ type }) => type === condition.type);
    const since = old?.status === condition.status ? old.lastTransitionTime : undefined;
    const observedGeneration = object.kind === 'Node' ? undefined : object.metadata.generation;
    return {
      ...condition,
      lastTransitionTime: toTimestamp(since ?? now),
      ...(observedGeneration !== undefined && { observedGeneration }),
    };
  });
  const types = new Set(changed.map(({ type }) => type));
  const kept = raw.filter(
    condition => !(isObject(condition) && typeof condition['type'] === 'string' && types.has(condition['type'])),
  );
  const body = {
    metadata: { uid, resourceVersion: object.metadata.resourceVersion },
    status: { conditions: [...kept, ...written] },
  };
  await deps.kubernetes.patch(ref, { type: 'merge', body }, { subresource: 'status' });
}

const arrayOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? [...value] : []);
const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
