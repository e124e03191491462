/** A change of an object that the API server refuses, as schemas and admission policies can: said once on it, and tried again later (I8). */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import { TerminalError } from '../../../shared/errors.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { Turn } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import { REFUSED_CHECK } from '../../../shared/lifecycle/refused.ts';
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
  try {
    return await turn;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const { message } = error;
    // This turn may have written it.
    const held = await record.load();
    if (held.kind === 'newer') throw error;
    const entry = held.kind === 'held' ? held.value : nextEntry(look);
    const saved = await saveEntry(look, { ...entry, message }, addDuration(look.observation.now, REFUSED_CHECK));
    if (!saved.written || look.entry?.message === message) return saved;
    const reason = EVENT_REASONS.finalizationError;
    const text = `${message}; it is tried again every five minutes`;
    await reportObject(reporter, look, { decision: 'retry', reason, message: text, type: 'Warning' });
    return saved;
  }
}
