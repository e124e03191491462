/** One FinalizerRule: look, decide, apply; then the other FinalizerRules of its kind, of which another one may count from now on. */
import { hasCondition } from '../common/set-condition.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { createBackoff } from '../../../shared/lifecycle/refusals.ts';
import { settle } from '../../../shared/lifecycle/settle.ts';
import { apply } from './apply.ts';
import type { FinalizerRuleContext, FinalizerRuleMessage, FinalizerRuleRunContext } from './context.ts';
import { decide, type FinalizerRuleDecision } from './decide.ts';
import { observe, type ObservedFinalizerRule } from './observe.ts';
import { openFinalizerRuleRecords } from './record.ts';
import { acceptanceOf, loadFinalizerRules } from './finalizer-rule-set.ts';
import { acceptedCondition } from './status.ts';

/**
 * Looks at a FinalizerRule. A write that conflicts is made again within this run. No other message would bring it: the forwarder reports a watch
 * once, and a change of labels or status of a FinalizerRule is no event.
 */
export async function reconcileFinalizerRule(
  context: FinalizerRuleContext,
  name: string,
  message: FinalizerRuleMessage,
): Promise<void> {
  const { deps } = context;
  const { wakeUp } = message;
  const reader = { timedRecordOf: openFinalizerRuleRecords(deps, wakeUp), wakeUp };
  const run: FinalizerRuleRunContext = { ...context, backoff: createBackoff(deps.clock), message };
  await settle<ObservedFinalizerRule, FinalizerRuleDecision>({
    what: `FinalizerRule ${name}`,
    observe: () => observe(deps, reader, name),
    decide,
    apply: (decision, observed) => apply(run, decision, observed),
  });
}

/**
 * Looks at the other FinalizerRules whose acceptance is not what their status says: the older one of their kind went, or was edited.
 *
 * @param name the FinalizerRule that changed
 */
export async function reconcileOtherFinalizerRules(context: FinalizerRuleContext, name: string): Promise<void> {
  const all = await loadFinalizerRules(context.deps);
  const moved = all.filter(
    other => other.metadata.name !== name && !hasCondition(other, acceptedCondition(acceptanceOf(other, all))),
  );
  await oneByOne(moved, other => reconcileFinalizerRule(context, other.metadata.name, { affectsObjects: true }));
}
