/**
 * How the records of repair are stored, and what a pass is asked for, as the coalescer keeps it between two passes. What earlier versions
 * stored is read, too, and goes on as this one has it.
 */
import { instant } from '../../../shared/contract/instant.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import * as z from '../../../shared/contract/zod.ts';
import { isJsonObject, readJson, toJson } from '../../../shared/domain/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { type EpochMs, toEpochMs } from '../../../shared/domain/time.ts';
import { EXACT, type Scopes, isWhole } from '../../../shared/lifecycle/next-round.ts';
import { type RecordCodec, checkedCodec } from '../../../shared/lifecycle/record-codec.ts';
import {
  answer,
  carriedAttempt,
  type EndedDrain,
  nodeSchema,
  type NodeRecord,
  poolSchema,
  type PoolRecord,
} from './record.ts';

export const OWNER = 'repair';

export const nodeCodec: RecordCodec<NodeRecord> = checkedCodec(OWNER, nodeSchema, 3, nodeOfBefore);
export const poolCodec: RecordCodec<PoolRecord> = checkedCodec(OWNER, poolSchema, 5, poolOfBefore);

/** Without what is undefined, so that what is equal is found equal. */
export const normalNode = (value: NodeRecord): NodeRecord => nodeSchema.parse(toJson(value));

export const normalPool = (value: PoolRecord): PoolRecord => poolSchema.parse(toJson(value));

/** The record of one node, by UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;

export const nodeSubject = (name: string, uid: string): Subject => ({ apiVersion: 'v1', kind: 'Node', name, uid });

/** A name that no NodePool can have, for the nodes without one. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** The record of one pool. undefined: of the nodes without a NodePool. */
export const poolRecordId = (name: string | undefined): string => (name === undefined ? 'cluster' : `pool/${name}`);

/** What a wake-up for a pass is about. */
export const poolSubject = (name: string | undefined): Subject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  name: name ?? NO_POOL,
});

/** The pool that a wake-up for a pass is about. */
export const poolOfSubject = ({ name }: Pick<Subject, 'name'>): string | undefined =>
  name === NO_POOL ? undefined : name;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

/** The state of a pool's record, whichever version wrote it. */
export function poolOfBefore(state: JsonObject): JsonObject {
  if (!Array.isArray(state['attempts'])) return state;
  const attempts = listOf(state['attempts']).map(each => carriedAttempt.parse(each));
  const left = listOf(state['left']).flatMap(each =>
    isJsonObject(each) ? [{ ...carriedAttempt.parse(each['attempt']), isLeft: true as const }] : [],
  );
  const under = attempts.filter(({ phase }) => phase !== 'observed');
  const { outages = [], repairs = [], ramp } = state;
  return toJson({
    inFlight: Object.fromEntries(under.map(({ node, intendedTime }) => [node.uid, intendedTime])),
    held: outages,
    ...(ramp !== undefined && { ramp }),
    terminations: repairs,
    counts: { held: 0, repairing: under.length },
    carried: [...attempts, ...left],
  });
}

const incidentOfBefore = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
});

const clockOf = ({ conditionType, conditionStatus, lastTransitionTime: time }: z.output<typeof incidentOfBefore>) => ({
  [`${conditionType}=${conditionStatus}`]: { start: time, stated: time },
});

/** The state of a node's record, whichever version wrote it. Version 1 kept an attempt, which version 2 had in the record of the pool. */
export function nodeOfBefore(state: JsonObject): JsonObject {
  if (state['clocks'] !== undefined) return state;
  const { incident, pool, episodes = [] } = state;
  const clocks = incident === undefined ? {} : clockOf(incidentOfBefore.parse(incident));
  return {
    name: '',
    ...(pool !== undefined && { pool }),
    clocks,
    acts: [],
    number: 0,
    episodes,
  };
}

/** A pass, for no node of its own. */
export const ANY = 'due';

/** A node that is ill or known. @param observedTime when the forwarder saw the change of it; undefined: it is no such change */
export const nodeAsk = (uid: string, observedTime?: EpochMs): string =>
  observedTime === undefined ? uid : `${uid}@${observedTime}`;

/** A drain that a repair of the node asked for has ended. */
export const drainAsk = (uid: string, ended: EndedDrain): string => `${EXACT}${JSON.stringify({ uid, ...ended })}`;

const drainEnd = z.object({ uid: z.string(), requestId: z.string(), answer });

export interface Asked {
  /** More nodes than are named. */
  readonly isWhole: boolean;
  readonly uids: ReadonlySet<string>;
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The pass is for changes alone: what it finds ill for the first time has changed, too. */
  readonly changesTime: EpochMs | undefined;
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
}

export function readAsks(scopes: Scopes): Asked {
  const uids = new Set<string>();
  const observedTimes = new Map<string, EpochMs>();
  const drainEnds = new Map<string, EndedDrain>();
  let isAll = isWhole(scopes);
  for (const name of scopes === 'all' ? [] : scopes) {
    if (name.startsWith(EXACT)) {
      const { data } = drainEnd.safeParse(readJson(name.slice(EXACT.length)));
      if (data === undefined) {
        // Of another version: it may be about any node.
        isAll = true;
        continue;
      }
      const { uid, ...ended } = data;
      drainEnds.set(uid, ended);
      uids.add(uid);
      continue;
    }
    const [uid = '', time] = name.split('@');
    uids.add(uid);
    const ms = toEpochMs(Number(time ?? 0));
    // The first change is the one that it became ill with.
    if (time !== undefined) observedTimes.set(uid, toEpochMs(Math.min(ms, observedTimes.get(uid) ?? ms)));
  }
  const isOfChanges = observedTimes.size > 0 && [...uids].every(uid => observedTimes.has(uid)) && !isAll;
  const changesTime = isOfChanges ? toEpochMs(Math.max(...observedTimes.values())) : undefined;
  uids.delete(ANY);
  return { isWhole: isAll, uids, observedTimes, changesTime, drainEnds };
}
