/** The finalizer of a FinalizerRule itself: a rule that is deleted stays until no object carries the finalizer that it names. */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { again, DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { TerminationDeps } from '../steps/context.ts';
import { closeRuleRecord, type RuleRecord } from './rule-record.ts';
import { isCarrying, type RuleInForce, type Standing } from './rule-set.ts';
import { objectsOf } from './wake-ups.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

const RULE_FINALIZER = 'curfew.dev/finalizer-rule';

/** A rule with its record. */
export interface SeenRule {
  readonly object: KubernetesObject;
  readonly record: TimedRecord<RuleRecord>;
}

type Deps = Pick<TerminationDeps, 'kubernetes' | 'clock'>;

export const CHANGED = again('somebody changed it');

/** Puts the rule's own finalizer on. False: it changed. */
export async function isHeldNow({ kubernetes }: Deps, object: KubernetesObject, standing: Standing): Promise<boolean> {
  const { uid, resourceVersion, name, finalizers = [] } = object.metadata;
  if (standing.kind !== 'inForce' || finalizers.includes(RULE_FINALIZER)) return true;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, RULE_FINALIZER] } };
  const outcome = await kubernetes.patch({ type: RESOURCES.FinalizerRule, name }, { type: 'merge', body });
  return outcome.kind !== 'conflict';
}

/** A rule that is being deleted goes when no object carries its finalizer, in sight or out of it; that is looked at once a minute. */
export async function endWhenFree(deps: Deps, { object, record }: SeenRule, inForce: RuleInForce): Promise<Turn> {
  const { kind, apiVersion, metadata } = object;
  const objects = await objectsOf(deps, inForce);
  const isFree = objects !== 'hidden' && !objects.some(each => isCarrying(each, inForce));
  if (isFree) return endUnused(deps, { object, record });
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  await record.load();
  await record.save({ subject, value: {}, wakeTime: addDuration(deps.clock.now(), minutes(1)) });
  return DONE;
}

/** A rule that is being deleted, and that nothing waits for. */
export async function endUnused({ kubernetes }: Deps, { object, record }: SeenRule): Promise<Turn> {
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
  if (current?.metadata.uid !== object.metadata.uid || current.metadata.deletionTimestamp === undefined) return DONE;
  const { uid, resourceVersion, finalizers = [] } = current.metadata;
  if (!finalizers.includes(RULE_FINALIZER)) return DONE;
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter(name => name !== RULE_FINALIZER) } };
  const outcome = await kubernetes.patch(ref, { type: 'merge', body });
  if (outcome.kind === 'conflict') return CHANGED;
  await closeRuleRecord(record);
  return DONE;
}
