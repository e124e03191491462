/** Entries of the ledger: what the next one starts from, and how it is written together with its timer. */
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { Saved } from '../../../shared/lifecycle/timed-record.ts';
import type { ObjectLook } from './observe-object.ts';
import type { LedgerEntry } from './record.ts';

/** The entry as it stands, under the rule that is in force, without a place in its queue. */
export function nextEntry({ inForce, observation, entry }: ObjectLook): LedgerEntry {
  const { slotTime: _, ...rest } = entry ?? { attempts: 0, phase: 'held' as const, time: observation.now };
  return { ...rest, rule: inForce.object.metadata.name, finalizerName: inForce.rule.finalizerName };
}

/** Writes the entry of an object with the timer of its next look. */
export function saveEntry({ record, subject }: ObjectLook, value: LedgerEntry, wakeTime: EpochMs): Promise<Saved> {
  return record.save({ subject, value, wakeTime });
}
