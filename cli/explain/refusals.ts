/**
 * Reads and changes of a node, its pool and its pods that are refused, and steps that fail, as the records of the
 * functions remember them.
 */
import { poolRecordId, REPAIR_OWNER } from '../../functions/repair/explain.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { nextTry } from '../../shared/domain/refusal.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';
import type { RecordKey, RecordStore } from '../../shared/ports/record-store.ts';
import { instant } from './instant.ts';
import type { NodeObservation } from './observation.ts';

export interface RefusedChange {
  readonly by: FunctionName;
  /** The refused change of the subject, such as `evict pod prod/web-0`. */
  readonly change: string;
  readonly message: string;
  /** Refusals in a row. */
  readonly count: number;
  readonly since: EpochMs;
  /** Time of the next try; a change of the object or of a setting brings it forward. */
  readonly until: EpochMs;
}

/**
 * Reads the refused changes of the node, its NodeClaims and its pods, and refused reads of its pool, the oldest first.
 * A record of a newer version is left out.
 */
export async function readRefusals(
  records: Pick<RecordStore, 'get'>,
  { node, nodeClaims, nodePool, pods }: Pick<NodeObservation, 'node' | 'nodeClaims' | 'nodePool' | 'pods'>,
): Promise<readonly RefusedChange[]> {
  const ids = [`node/${node.uid}`, ...nodeClaims.map(({ uid }) => `nodeclaim/${uid}`)];
  const keys: readonly (RecordKey & { owner: FunctionName })[] = [
    ...OWNERS.flatMap(owner => ids.map(id => ({ owner, id }))),
    { owner: REPAIR_OWNER, id: poolRecordId(nodePool) },
  ];
  const named = new Map(pods.map(({ uid, namespace, name }) => [uid, `${namespace}/${name}`]));
  const found = await Promise.all(
    keys.map(async ({ owner: by, id }) => {
      const state = (await records.get({ owner: by, id }))?.state ?? {};
      const { data = {} } = refusalsSchema.safeParse(state['refusals'] ?? {});
      return Object.entries(data).map(([key, refusal]): RefusedChange => {
        const { message, count, firstTime: since } = refusal;
        const isStep = by === 'finalizer' && STEP.test(key);
        const change = isStep ? `step ${key} of the termination` : key.replace(/[\w-]+$/, uid => named.get(uid) ?? uid);
        return { by, change, message, count, since, until: nextTry(refusal) };
      });
    }),
  );
  return found.flat().toSorted((a, b) => a.since - b.since);
}

/** A step may fail before it changes anything, as where it looks at the instance. */
const STEP = /^[A-Z][A-Za-z]+(:[a-z-]+)?$/;

/** The functions that keep a record of a node or of its NodeClaim. */
const OWNERS = ['drain', 'finalizer', 'grace-period'] as const satisfies readonly FunctionName[];

/** A line each. */
export const renderRefusals = (refused: readonly RefusedChange[], now: EpochMs): readonly string[] =>
  refused.map(
    ({ by, change, message, count, since, until }) =>
      `  ${change.startsWith('step ') ? 'fails' : 'refused'}: ${change}, to ${by}, ${count === 1 ? 'once' : `${count} times`} since ${instant(since, now)}; tried again ${until <= now ? 'with the next look' : `at ${instant(until, now)}`}: ${message}`,
  );
