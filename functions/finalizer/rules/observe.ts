/** Input for a FinalizerRule: itself among all rules, and its record. Always live reads. */
import type { FinalizerDeps } from '../common/context.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Observed } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { SubjectWakeUp } from '../../../shared/lifecycle/wake-up-route.ts';
import type { RuleAcceptance } from './decide.ts';
import { closeRuleRecord, type RuleRecord } from './record.ts';
import { acceptanceOf, loadRules } from './rule-set.ts';

export interface ObservedRule {
  readonly object: KubernetesObject;
  readonly record: TimedRecord<RuleRecord>;
  /** The standing of the rule among all. */
  readonly acceptance: RuleAcceptance;
}

/** State that all looks of one run share. */
export interface RuleObserverContext {
  /** The record of a rule, by its UID. */
  readonly recordOf: (uid: string) => TimedRecord<RuleRecord>;
  /** The wake-up by the timer of a rule: the record of a rule that is gone is closed. */
  readonly wakeUp: SubjectWakeUp | undefined;
}

/** Looks at the rule once. */
export async function observe(
  deps: FinalizerDeps,
  { recordOf, wakeUp }: RuleObserverContext,
  name: string,
): Promise<Observed<ObservedRule>> {
  const all = await loadRules(deps);
  const object = all.find(({ metadata }) => metadata.name === name);
  const isMeant = wakeUp === undefined || object?.metadata.uid === wakeUp.subject.uid;
  if (!isMeant && wakeUp.subject.uid !== undefined) await closeRuleRecord(recordOf(wakeUp.subject.uid));
  if (object === undefined || !isMeant) return { kind: 'over' };
  const record = recordOf(object.metadata.uid);
  return { kind: 'here', observation: { object, record, acceptance: acceptanceOf(object, all) } };
}
