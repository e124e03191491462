/** Says what may have been left behind, and keeps its entry in the ledger or closes it. */
import { addDuration, type EpochMs } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { ORPHAN_CHECK, type OrphanDecision } from './decide.ts';
import type { ObservedInstance } from './observe.ts';
import { instanceSubject } from './record.ts';
import { reportClosed, reportOrphan } from './report.ts';

/** @param since when an object's termination left it; undefined: it is found just now */
export async function apply(
  { reporter }: { readonly reporter: Reporter },
  decision: OrphanDecision,
  observed: ObservedInstance,
  since: EpochMs | undefined,
): Promise<Turn> {
  const { now, record, entry, object, providerID } = observed;
  const subject = instanceSubject(providerID);
  switch (decision.kind) {
    case 'ignore':
      return DONE;
    case 'wait':
      return entry === undefined ? DONE : record.save({ subject, value: entry, wakeTime: decision.until });
    case 'report': {
      const value = {
        since: entry === undefined && since !== undefined ? since : decision.since,
        saidTime: now,
        ...(object && { object }),
      };
      // Said first: what the entry says was said is not said again for a day (I9).
      await reportOrphan(reporter, observed, value.since);
      return record.save({ subject, value, wakeTime: addDuration(now, ORPHAN_CHECK) });
    }
    case 'close': {
      const turn = await record.closeNow();
      if (turn.kind === 'done') await reportClosed(reporter, observed, decision.because);
      return turn;
    }
  }
}
