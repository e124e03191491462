/** The ledger of possible orphans, as the table of records has it. */
import { entriesOf, LEDGER_CODEC, ORPHAN_CHECK, ORPHAN_CODEC } from '../../functions/finalizer/explain.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { addDuration, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import type { RecordCodec } from '../../shared/lifecycle/record-codec.ts';
import type { DueIndex, RecordStore } from '../../shared/ports/record-store.ts';

export interface Orphan {
  /** For `curfew orphans --forget`. */
  readonly id: string;
  readonly since: string;
  /** The object and its owner in words. */
  readonly text: string;
}

const PAGE = 500;

/** Every entry has a timer that comes within a day, so the due index knows all of them. Entries of newer versions are left out. */
export async function listOrphans(dueIndex: DueIndex, records: RecordStore, now: EpochMs): Promise<readonly Orphan[]> {
  // A day, and the time in which one that is due is looked at.
  const horizon = addDuration(now, ORPHAN_CHECK);
  const found: Orphan[] = [];
  for (let shard = 0; shard < dueIndex.shardCount; shard += 1) {
    let cursor: string | undefined;
    do {
      const page = await dueIndex.queryDue(shard, horizon, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
      for (const { owner, id, subject } of page.records) {
        if (owner !== 'finalizer' || !/^(instance|object)\//.test(id)) continue;
        const stored = await records.get({ owner, id });
        if (stored !== undefined) found.push(...toOrphans(id, subject, stored.state));
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found.toSorted((a, b) => a.since.localeCompare(b.since) || a.id.localeCompare(b.id));
}

/** The orphans of one record: an instance, or an object once for each rule. */
function toOrphans(id: string, subject: Subject, state: JsonObject): readonly Orphan[] {
  if (id.startsWith('instance/')) {
    const entry = read(ORPHAN_CODEC, state);
    if (entry === undefined || entry.forgotten === true) return [];
    const { object, since } = entry;
    const text = object === undefined ? 'Instance' : `Instance of ${object.kind} ${object.name}`;
    return [{ id, since: toTimestamp(since), text }];
  }
  const record = read(LEDGER_CODEC, state);
  if (record === undefined) return [];
  const name = subject.namespace === undefined ? subject.name : `${subject.namespace}/${subject.name}`;
  return entriesOf(record)
    .filter(({ phase }) => phase === 'orphaned')
    .map(({ time, rule, message }) => ({
      id,
      since: toTimestamp(time),
      text: `${subject.kind} ${name} of FinalizerRule ${rule}${message === undefined ? '' : `: ${message}`}`,
    }));
}

/** undefined: a newer version has written it. */
function read<Value>(codec: RecordCodec<Value>, { schemaVersion, ...state }: JsonObject): Value | undefined {
  return typeof schemaVersion === 'number' && schemaVersion <= codec.schemaVersion ? codec.parse(state) : undefined;
}
