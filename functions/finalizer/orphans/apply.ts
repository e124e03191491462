/** Reports an instance that may have been left behind, and keeps its entry in the ledger or closes it. */
import type { FinalizerContext } from '../common/context.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { ORPHAN_CHECK, type OrphanDecision } from './decide.ts';
import type { ObservedInstance } from './observe.ts';
import { instanceSubject } from './record.ts';
import { reportClosed, reportOrphan } from './report.ts';

export async function apply(
  { reporter }: Pick<FinalizerContext, 'reporter'>,
  decision: OrphanDecision,
  observed: ObservedInstance,
): Promise<Turn> {
  const { now, timedRecord, entry, object, providerID } = observed;
  const subject = instanceSubject(providerID);
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'wait':
      return entry === undefined ? DONE : timedRecord.save({ subject, value: entry, wakeTime: decision.until });
    case 'report': {
      const { since } = decision;
      const value = { since, reportedTime: now, ...(object && { object }) };
      // Said first: what the entry says was said is not said again for a day (I9).
      await reportOrphan(reporter, observed, decision);
      return timedRecord.save({ subject, value, wakeTime: addDuration(now, ORPHAN_CHECK) });
    }
    case 'close': {
      const turn = await timedRecord.closeNow();
      if (turn.kind === 'done') await reportClosed(reporter, observed, decision);
      return turn;
    }
  }
}
