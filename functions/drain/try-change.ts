/** Changes of the Node and of the custom resource that may be refused, and the end of a turn whose change was not made. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../shared/errors.ts';
import { causeOf, isRefused, reportWarning, type RefusedChange } from '../../shared/lifecycle/refusals.ts';
import { anotherTurn, type Turn } from '../../shared/lifecycle/settle.ts';
import type { DrainContext } from './context.ts';
import { showDrain, type NodeChange } from './node.ts';
import type { ObservedNode } from './observe.ts';
import { NO_DRAINS } from './record.ts';
import type { DrainConditionState, DrainObservation } from './rule/observation.ts';
import { withSafetyNet } from './rule/progress.ts';
import { save } from './save.ts';

/** Makes a change of Node or custom resource, unless it was refused and waits. @param key which change of the drain it is */
export function tryChange<Outcome>(
  { reporter }: DrainContext,
  observed: ObservedNode,
  key: 'show' | 'prepare' | 'answer' | 'finish' | 'readResource' | 'createResource' | 'deleteResource',
  call: () => Promise<Outcome>,
): Promise<Outcome | RefusedChange> {
  const { object, record, backoff } = observed;
  const restsOn = [object, record.active?.id, ...(observed.kind === 'idle' ? [] : settingsOf(observed))];
  // What only informs is not worth a word.
  const isAwaited = key === 'readResource' || key === 'createResource';
  const reason = isAwaited ? EVENT_REASONS.awaitingCustomDrain : EVENT_REASONS.nodeChangeRefused;
  const report = key === 'show' ? undefined : reportWarning(reporter, object, reason);
  return backoff.try({ key, stored: record.refusals, restsOn, report }, call);
}

/** The settings that a refused change rests on. Policies that are not served count as none: in a cluster that has none, the refusal stays the same one. */
export function settingsOf({ inForce, configuration }: DrainObservation): readonly unknown[] {
  const { mode, limits } = inForce.kind === 'known' ? inForce : { mode: 'Enforce', limits: NO_DRAIN_LIMITS };
  return [mode, limits, configuration?.settings];
}

/** Lets the drain go on where a change is refused, unless the refusal is about to pass: a later turn makes up for it. */
export const okUnlessTransient = <Outcome>(
  changed: Outcome | RefusedChange,
): Outcome | { readonly kind: 'ok' } | RefusedChange =>
  isRefused(changed) && causeOf(changed.error) !== 'passing' ? { kind: 'ok' } : changed;

/** Shows the drain on the Node. */
export const tryShow = (
  context: DrainContext,
  observed: ObservedNode,
  shown: DrainConditionState,
  message: string,
): ReturnType<typeof showOnNode> =>
  tryChange(context, observed, 'show', () =>
    showDrain(context.deps, observed.object, shown, { message, now: observed.now }),
  );

/** Shows the drain on the Node, where that is let. @returns the Node, or why the turn ends */
export async function showOnNode(
  context: DrainContext,
  observed: ObservedNode,
  shown: DrainConditionState,
  message: string,
): Promise<KubernetesObject | RefusedChange | undefined> {
  const node = await tryShow(context, observed, shown, message);
  return isRefused(node) && node.redeliveryError === undefined ? observed.object : node;
}

/** Reason why a change was not made. */
export type UnmadeChange = Exclude<NodeChange, { kind: 'ok' }> | RefusedChange | undefined;

/**
 * Ends the turn of a run that did not change the Node: it lost a race, or its change is refused.
 *
 * @param isForMessage the change is what the message in hand asks for, which stands nowhere else
 */
export async function endUnchangedTurn(
  observed: ObservedNode,
  changed: UnmadeChange,
  isForMessage = false,
): Promise<Turn> {
  if (!isRefused(changed)) return anotherTurn(`the Node ${changed?.kind === 'gone' ? 'is gone' : 'changed'}`);
  const loaded = await observed.timedRecord.load();
  if (isForMessage || loaded.kind === 'newer') throw changed.redeliveryError ?? new RetryableError(changed.message);
  const { until, redeliveryError } = changed;
  // What an earlier record has left on the Node needs one for its refusal: otherwise nothing spaces the tries (I11).
  const value = loaded.kind === 'known' ? loaded.value : NO_DRAINS;
  return save(observed, value, withSafetyNet(observed, until), { redeliveryError });
}
