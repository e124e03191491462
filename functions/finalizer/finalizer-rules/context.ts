/** Context of a run about a FinalizerRule, and the content of its message. */
import type { FinalizerContext } from '../common/context.ts';
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import type { Backoff } from '../../../shared/lifecycle/refusals.ts';
import type { SubjectWakeUp } from '../../../shared/lifecycle/wake-up-route.ts';
import type { Rounds } from '../../../shared/policies/rounds.ts';

export interface FinalizerRuleContext extends FinalizerContext {
  /** Rounds that wake the objects that a change of a FinalizerRule concerns. */
  readonly finalizerRuleRounds: Rounds;
}

/** One run about one FinalizerRule. */
export interface FinalizerRuleRunContext extends FinalizerRuleContext {
  readonly backoff: Backoff;
  readonly message: FinalizerRuleMessage;
}

export interface FinalizerRuleMessage {
  /** State of the forwarder's watch of the kind; absent in a message that does not say. */
  readonly watch?: KindWatch | undefined;
  /** False: nothing changed that its objects depend on. When everything is published again, they come in events of their own. */
  readonly affectsObjects?: boolean;
  /** The wake-up of a FinalizerRule that is being deleted, or whose change was refused. */
  readonly wakeUp?: SubjectWakeUp;
}
