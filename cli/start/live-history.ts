/**
 * The history for the live page: the last lines of the trace, and before them the state of everything when they begin.
 * Otherwise a stack that runs for days would keep every line.
 */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { withChange } from '../../packages/timeline/src/trace/merge-patch.ts';
import type { Trace, TraceEntry } from '../../simulator/trace.ts';

export interface LiveHistory {
  /** Time at which the lines begin. */
  readonly start: EpochMs;
  /** Lines that were there before the first that is kept. */
  readonly forgotten: number;
  /** Objects, policies and rules as they were at `start`. */
  begin(): readonly JsonObject[];
  /** Keeps the last lines, and of those before them how things stand. Call it when all readers have them. */
  shorten(): void;
}

/** @param keep lines */
export function createLiveHistory(trace: Pick<Trace, 'entries' | 'forget'>, start: EpochMs, keep: number): LiveHistory {
  const standing = new Map<string, JsonObject>();
  let begins = start;
  let forgotten = 0;
  return {
    get start() {
      return begins;
    },
    get forgotten() {
      return forgotten;
    },
    begin: () => [...standing.values()].map(line => ({ ...line, t: toIsoText(begins) })),
    shorten() {
      const gone = trace.entries.slice(0, Math.max(0, trace.entries.length - keep));
      for (const entry of gone) stand(standing, entry);
      begins = gone.at(-1)?.time ?? begins;
      forgotten += gone.length;
      trace.forget(gone.length);
    },
  };
}

function stand(standing: Map<string, JsonObject>, { kind, line }: TraceEntry): void {
  const key = keyOf(kind, line);
  if (key === undefined) return;
  const { change, ...rest } = line;
  const before = standing.get(key)?.['object'];
  if (line['gone'] === true) {
    standing.delete(key);
    // A pool takes its rules along.
    if (line['resource'] === 'nodepools') standing.delete(rulesKey(line['name']));
  } else if (!isJsonObject(change)) standing.set(key, line);
  else if (isJsonObject(before)) {
    const object: unknown = withChange(before, change);
    if (isJsonObject(object)) standing.set(key, { ...rest, object });
  }
}

/** The key of a state that stands until it is changed; undefined for an event that happened once. */
function keyOf(
  kind: TraceEntry['kind'],
  { group, resource, namespace, name, objectKind, pool }: JsonObject,
): string | undefined {
  if (kind === 'object') return JSON.stringify([kind, group, resource, namespace, name]);
  if (kind === 'policy') return JSON.stringify([kind, objectKind, name]);
  return kind === 'rules' ? rulesKey(pool) : undefined;
}

const rulesKey = (pool: unknown): string => JSON.stringify(['rules', pool]);
