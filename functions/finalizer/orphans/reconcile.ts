/** One instance that may have been left behind: look, decide, say it or close its entry. */
import type { FinalizerContext } from '../common/context.ts';
import { settle } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { apply } from './apply.ts';
import { decide, type OrphanDecision } from './decide.ts';
import { observe, type OrphanOrigin, type ObservedInstance } from './observe.ts';
import { ORPHAN_CODEC } from './record.ts';

/** Looks at the instance, and answers whether it is in the ledger afterwards. */
export async function reconcileInstance(
  { deps, reporter }: FinalizerContext,
  providerID: string,
  { wakeUp, origin }: { readonly wakeUp?: UsedWakeUp; readonly origin?: OrphanOrigin },
): Promise<boolean> {
  const timedRecord = openRecord(deps, ORPHAN_CODEC, `instance/${providerID}`, wakeUp);
  if (await timedRecord.isWakeUpSuperseded()) return true;
  let isInLedger = true;
  await settle<ObservedInstance, OrphanDecision>({
    what: `instance ${providerID}`,
    observe: () => observe(deps, timedRecord, { providerID, origin }),
    decide,
    async apply(decision, observed) {
      isInLedger = decision.kind === 'report' || decision.kind === 'wait';
      return apply({ reporter }, decision, observed);
    },
  });
  return isInLedger;
}
