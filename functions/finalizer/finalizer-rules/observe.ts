/** Input for a FinalizerRule: itself among all FinalizerRules, and its record. Always live reads. */
import type { FinalizerDeps } from '../common/context.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Observed } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { SubjectWakeUp } from '../../../shared/lifecycle/wake-up-route.ts';
import type { FinalizerRuleAcceptance } from './rule/acceptance.ts';
import { closeFinalizerRuleRecord, type FinalizerRuleRecord } from './record.ts';
import { acceptanceOf, isReplacedBy, loadFinalizerRules } from './finalizer-rule-set.ts';

export interface ObservedFinalizerRule {
  readonly object: KubernetesObject;
  readonly timedRecord: TimedRecord<FinalizerRuleRecord>;
  /** The standing of the FinalizerRule among all. */
  readonly acceptance: FinalizerRuleAcceptance;
  /** Another FinalizerRule sees to the objects with its finalizer. */
  readonly isReplaced: boolean;
}

/** State that all looks of one run share. */
export interface FinalizerRuleObserverContext {
  /** The record of a FinalizerRule, by its UID. */
  readonly timedRecordOf: (uid: string) => TimedRecord<FinalizerRuleRecord>;
  /** The wake-up by the timer of a FinalizerRule: the record of one that is gone is closed. */
  readonly wakeUp: SubjectWakeUp | undefined;
}

/** Looks at the FinalizerRule once. */
export async function observe(
  deps: FinalizerDeps,
  { timedRecordOf, wakeUp }: FinalizerRuleObserverContext,
  name: string,
): Promise<Observed<ObservedFinalizerRule>> {
  const all = await loadFinalizerRules(deps);
  const object = all.find(({ metadata }) => metadata.name === name);
  const isMeant = wakeUp === undefined || object?.metadata.uid === wakeUp.subject.uid;
  if (!isMeant && wakeUp.subject.uid !== undefined) await closeFinalizerRuleRecord(timedRecordOf(wakeUp.subject.uid));
  if (object === undefined || !isMeant) return { kind: 'over' };
  const timedRecord = timedRecordOf(object.metadata.uid);
  const acceptance = acceptanceOf(object, all);
  const isReplaced = isReplacedBy(acceptance, all);
  return { kind: 'here', observation: { object, timedRecord, acceptance, isReplaced } };
}
