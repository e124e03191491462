/** A change of an object that the API server refuses, as schemas and admission policies can: said once on it, and tried again later (I8). */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { again, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { orRefused, REFUSED_CHECK, triedAgain } from '../../../shared/lifecycle/refused.ts';
import { nextEntry, saveEntry } from './ledger.ts';
import type { ObjectLook } from './observe-object.ts';
import type { LedgerEntry } from './record.ts';
import { reportObject } from './report.ts';

export async function tryLaterWhenRefused(
  { reporter }: { readonly reporter: Reporter },
  look: ObjectLook,
  record: TimedRecord<LedgerEntry>,
  turn: Promise<Turn>,
): Promise<Turn> {
  const outcome = await orRefused(turn);
  if (outcome.kind !== 'refused') return outcome;
  // This turn may have written it.
  const held = await record.load();
  if (held.kind === 'newer') return again('a newer version wrote its entry');
  const { message } = outcome;
  // Said first: a run that dies in between says it again (I9).
  if (look.entry?.message !== message) {
    const reason = EVENT_REASONS.finalizationError;
    await reportObject(reporter, look, { decision: 'retry', reason, message: triedAgain(outcome), type: 'Warning' });
  }
  const entry = held.kind === 'held' ? held.value : nextEntry(look);
  return saveEntry(look, { ...entry, message }, addDuration(look.observation.now, REFUSED_CHECK));
}
