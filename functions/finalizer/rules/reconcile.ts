/** One FinalizerRule: look, decide, apply; then the other rules of its kind, of which another one may count from now on. */
import { hasCondition } from '../common/set-condition.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { createTries } from '../../../shared/lifecycle/refusals.ts';
import { settle } from '../../../shared/lifecycle/settle.ts';
import { apply } from './apply.ts';
import type { RuleContext, RuleMessage, RuleRunContext } from './context.ts';
import { decide, type RuleDecision } from './decide.ts';
import { observe, type ObservedRule } from './observe.ts';
import { openRuleRecords } from './record.ts';
import { acceptanceOf, loadRules } from './rule-set.ts';
import { acceptedCondition } from './status.ts';

/**
 * Looks at a rule. A write that conflicts is made again within this run. No other message would bring it: the forwarder reports a watch once,
 * and a change of labels or status of a rule is no event.
 */
export async function reconcileRule(context: RuleContext, name: string, message: RuleMessage): Promise<void> {
  const { deps } = context;
  const { wakeUp } = message;
  const reader = { recordOf: openRuleRecords(deps, wakeUp), wakeUp };
  const run: RuleRunContext = { ...context, tries: createTries(deps.clock), message };
  await settle<ObservedRule, RuleDecision>({
    what: `FinalizerRule ${name}`,
    observe: () => observe(deps, reader, name),
    decide,
    apply: (decision, observed) => apply(run, decision, observed),
  });
}

/**
 * Looks at the other rules whose acceptance is not what their status says: the older one of their kind went, or was edited.
 *
 * @param name the rule that changed
 */
export async function reconcileOtherRules(context: RuleContext, name: string): Promise<void> {
  const all = await loadRules(context.deps);
  const moved = all.filter(
    other => other.metadata.name !== name && !hasCondition(other, acceptedCondition(acceptanceOf(other, all))),
  );
  await oneByOne(moved, other => reconcileRule(context, other.metadata.name, { affectsObjects: true }));
}
