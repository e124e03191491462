/** The table that Curfew remembers by: it can be restored from a backup, or wiped, and what it has can be out of the reach of functions of an earlier version. */
import { addDuration, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { RecordKey, RecordStore, StoredRecord } from '../shared/ports/record-store.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import { createMemoryRecordStore } from '../runtime/memory/record-store.ts';
import { withDueIndex, type IndexedStore } from './due-index.ts';

export interface Table extends IndexedStore {
  /**
   * As it was at `backup`; empty where that is undefined. A write that has read a record before loses its race, as where records of another
   * table have versions of their own.
   *
   * @param records where the changes are written, for whoever watches the writes
   */
  restore(backup: EpochMs | undefined, records: RecordStore): Promise<void>;
  /** For so long, functions of an earlier version run: what is stored was written by a later one. */
  rollBack(duration: DurationMs): void;
}

interface Backup {
  readonly time: EpochMs;
  readonly record: StoredRecord | undefined;
}

/** Higher than that of any codec. */
const LATER_VERSION = 1000;

/** @param keepsBackups whether it is restored to an instant ever: all that was written is kept then */
export function createTable(scheduler: Scheduler, keepsBackups: boolean): Table {
  const { records, dueIndex } = withDueIndex(createMemoryRecordStore());
  /** What each record has been, the oldest first. */
  const written = new Map<string, { readonly key: RecordKey; readonly backups: Backup[] }>();
  /** Keys of what a later version wrote, by the rollback that they are out of reach in. */
  const rollbacks = new Set<ReadonlySet<string>>();
  const note = ({ owner, id }: RecordKey, record: StoredRecord | undefined): void => {
    const key = keyOf({ owner, id });
    const known = written.get(key) ?? { key: { owner, id }, backups: [] };
    if (keepsBackups) known.backups.push({ time: scheduler.now(), record });
    written.set(key, known);
  };
  const seen = <Found extends StoredRecord | undefined>(record: Found): Found => {
    if (record === undefined || ![...rollbacks].some(keys => keys.has(keyOf(record)))) return record;
    return { ...record, state: { ...record.state, schemaVersion: LATER_VERSION } };
  };

  const table: RecordStore = {
    get: async key => seen(await records.get(key)),
    async put(record, expectedVersion) {
      const outcome = await records.put(record, expectedVersion);
      if (outcome.kind === 'written') note(record, outcome.record);
      else if (outcome.current !== undefined) return { ...outcome, current: seen(outcome.current) };
      return outcome;
    },
    async delete(key, expectedVersion) {
      const outcome = await records.delete(key, expectedVersion);
      if (outcome.kind === 'deleted') note(key, undefined);
      return outcome.kind === 'lostRace' ? { ...outcome, current: seen(outcome.current) } : outcome;
    },
  };

  return {
    records: table,
    dueIndex,
    async restore(backup, through) {
      rollbacks.clear();
      for (const { key, backups } of written.values()) {
        const current = await records.get(key);
        const then = backup === undefined ? undefined : backups.findLast(({ time }) => time <= backup)?.record;
        if (then?.version === current?.version) continue;
        if (then !== undefined) await through.put(then, current?.version ?? 0);
        else if (current !== undefined) await through.delete(key, current.version);
      }
    },
    rollBack(duration) {
      const keys = new Set(written.keys());
      rollbacks.add(keys);
      scheduler.at(addDuration(scheduler.now(), duration), () => void rollbacks.delete(keys));
    },
  };
}

const keyOf = ({ owner, id }: RecordKey): string => `${owner}/${id}`;
