/**
 * The two records of repair, written by passes alone. Of a pool: who is in flight, and what its guards remember. Of a node that is ill, or was
 * acted upon in the last day: since when, what was done, and what was said. What earlier versions stored is read, too, and goes on as this one has it.
 */
import * as z from '../../../shared/contract/zod.ts';
import { instant } from '../../../shared/contract/instant.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { isJsonObject, readJson, toJson } from '../../../shared/domain/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { type EpochMs, toEpochMs } from '../../../shared/domain/time.ts';
import { EXACT, type Scopes, isWhole } from '../../../shared/lifecycle/next-round.ts';
import { type RecordCodec, checkedCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';
import type { CarriedAttempt, EndedDrain, NodeRecord, PoolRecord } from './state.ts';

export const OWNER = 'repair';

const named = z.object({ name: z.string(), uid: z.string() });

const incident = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
  /** From when on the node may be repaired. */
  dueTime: instant,
  /** Where the toleration stands; absent: the provider's default. */
  field: z.optional(z.string()),
  /** Of the entry; absent: 0. */
  priority: z.optional(z.int()),
});

const resourceName = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.optional(z.string()),
  name: z.string(),
});

const madeResource = z.extend(resourceName, { uid: z.string() });

const rungType = z.enum(['Reboot', 'Drain', 'CustomResource', 'Replace', 'Terminate']);

const replacement = z.object({
  name: z.string(),
  uid: z.optional(z.string()),
  node: z.optional(z.string()),
  releasedTime: z.optional(instant),
});

/** How an act itself ended, before its time was over. `stopped`: a person took it back, and nothing follows. */
const answer = z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() });

const attempt = z.object({
  /** Counts the attempts at this node, from 1. */
  number: z.int().check(z.positive()),
  /**
   * `intended` is written before the first call, `accepted` after the act was taken. An intended attempt whose run ended is resolved by
   * looking, never by repeating (I4).
   */
  phase: z.enum(['intended', 'accepted']),
  time: instant,
  /** Absent for a node that Karpenter does not manage. */
  claim: z.optional(named),
  incident,
  action: rungType,
  /** Type, template and timeout: what makes it the same action (`ladder.ts`). */
  key: z.string(),
  /** When the next action may follow; of a termination, when it is stuck. */
  until: instant,
  /** When EC2, which refused to say what came of it, is asked again. */
  askTime: z.optional(instant),
  answer: z.optional(answer),
  /** `Terminate`: the annotation's value that this attempt sets, so that it is known as ours (I7). */
  terminationTimestamp: z.optional(z.string()),
  /** What somebody else had set there before; given back when the attempt is called off. */
  previousTimestamp: z.optional(z.string()),
  /** `Terminate`: when what is left of the pods goes. */
  podsUntil: z.optional(instant),
  /** `Reboot`: the machine's boot ID before. */
  bootID: z.optional(z.string()),
  /** `Drain`, `CustomResource`: what the request is known by, the same for each try. */
  requestId: z.optional(z.string()),
  replacement: z.optional(replacement),
});

/** An act that was taken. */
const act = z.object({ key: z.string(), action: rungType, time: instant, bootID: z.optional(z.string()) });

const episode = z.object({
  startTime: instant,
  endTime: z.optional(instant),
  /** The conditions that it began with. */
  began: z.optional(z.array(z.object({ type: z.string(), status: z.string() }))),
});

const ours = z.object({
  /** A drain that was asked for, by its request. */
  drain: z.optional(z.string()),
  resources: z.optional(z.array(madeResource)),
  /** Those that a run set out to make, written before: one that ended in between leaves them to be found (I7). */
  mayHaveMade: z.optional(z.array(resourceName)),
  /** The cordon and the condition of a reboot. */
  maintenance: z.optional(z.literal(true)),
  replacement: z.optional(replacement),
  /** Of a termination that was called off: its annotation. */
  annotation: z.optional(z.object({ claim: named, set: z.string(), previous: z.optional(z.string()) })),
});

const settling = z.object({ totalMs: z.number(), since: z.optional(instant) });

const illness = z.object({
  /** Of the entry that decided last. */
  type: z.string(),
  /** Actions that were accepted, by their keys. */
  taken: z.array(z.string()),
  /** Replacements that did not become ready. */
  passed: z.optional(z.array(z.string())),
  /** Since when no rule has been ill. */
  wellTime: z.optional(instant),
  settling: z.optional(settling),
});

const clock = z.object({
  /** When it began to hold. */
  start: instant,
  /** The transition time that its condition stated then, or last. */
  stated: z.optional(instant),
  /** The start that counts again, once a change event says that only the time has moved. */
  first: z.optional(instant),
});

const node = z.object({
  name: z.string(),
  pool: z.optional(z.string()),
  /** Of each statement that holds, by its key. */
  clocks: z.record(z.string(), clock),
  illness: z.optional(illness),
  /** Of the illness before: its condition type, and the action that was taken last. */
  before: z.optional(z.object({ type: z.string(), key: z.optional(z.string()), time: instant })),
  /** Taken in the last day, or for as long as an allowance counts them. */
  acts: z.array(act),
  number: z.int(),
  launched: z.optional(z.int()),
  attempt: z.optional(attempt),
  refusals: z.optional(refusalsSchema),
  ours: z.optional(ours),
  episodes: z.array(episode),
  /** When somebody else was first seen at work on it. */
  others: z.optional(z.object({ what: z.string(), time: instant })),
  /** What was said of it last, and when; and when each thing was that was said in the last hour. */
  said: z.optional(z.object({ code: z.string(), time: instant, times: z._default(z.record(z.string(), instant), {}) })),
});

export const nodeCodec: RecordCodec<NodeRecord> = checkedCodec(OWNER, node, 3, nodeOfBefore);

/** Without what is undefined, so that what is equal is found equal. */
export const normalNode = (value: NodeRecord): NodeRecord => node.parse(toJson(value));

export const normalPool = (value: PoolRecord): PoolRecord => pool.parse(toJson(value));

/** The record of one node, by UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;

export const nodeSubject = (name: string, uid: string): Subject => ({ apiVersion: 'v1', kind: 'Node', name, uid });

const ramp = z.object({ step: z.int(), stepTime: instant, granted: z.int() });

const termination = z.object({
  condition: z.string(),
  time: instant,
  node: z.optional(z.string()),
  isReplaced: z.optional(z.literal(true)),
});

const schema = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.optional(named),
  incident: z.object({
    conditionType: z.string(),
    conditionStatus: z.string(),
    lastTransitionTime: instant,
    dueTime: instant,
  }),
  rung: z.int().check(z.minimum(0)),
  action: rungType,
  carriedOut: z.optional(z.object({ rung: z.int().check(z.minimum(0)), action: rungType })),
  until: z.optional(instant),
  answer: z.optional(z.object({ kind: z.enum(['succeeded', 'failed', 'stopped']), message: z.string() })),
  notTaken: z.optional(z.literal(true)),
  terminationTimestamp: z.optional(z.string()),
  previousTimestamp: z.optional(z.string()),
  bootID: z.optional(z.string()),
  requestId: z.optional(z.string()),
  resources: z.optional(z.array(madeResource)),
  mayHaveMade: z.optional(z.array(resourceName)),
  /** The repair is over, and this could not be taken back. */
  isLeft: z.optional(z.literal(true)),
});

const attemptOfBefore = (value: unknown): CarriedAttempt => schema.parse(value);

const pool = z.object({
  /** By UID: since when. 48 bytes each. */
  inFlight: z.record(z.string(), instant),
  /** Of repairs that hold nobody and are not over: stuck ones, and those whose Nodes are gone. */
  followed: z._default(z.array(z.string()), []),
  /** Guards that held a due repair in the last pass that looked: `cluster`, `zone/<name>`, `threshold`. */
  held: z.array(z.string()),
  ramp: z.optional(ramp),
  launchPause: z.optional(z.object({ failures: z.int(), until: instant })),
  /** Of the last day, or the window of `futility`. */
  terminations: z.array(termination),
  /** How its repairs stand, for the status of policies. */
  counts: z.object({ held: z.int(), repairing: z.int() }),
  /** When it was said last how many nodes were not replaced. */
  missingTime: z.optional(instant),
  /** Attempts that an earlier version kept here; each goes into the record of its node. */
  carried: z.optional(z.array(z.pipe(z.unknown(), z.transform(attemptOfBefore)))),
});

export const poolCodec: RecordCodec<PoolRecord> = checkedCodec(OWNER, pool, 5, poolOfBefore);

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
  const attempts = listOf(state['attempts']).map(attemptOfBefore);
  const left = listOf(state['left']).flatMap(each =>
    isJsonObject(each) ? [{ ...attemptOfBefore(each['attempt']), isLeft: true as const }] : [],
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
