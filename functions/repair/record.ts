/**
 * The records of a pool and of a node, written by passes alone. Of a pool: who is in flight, and what its guards
 * remember. Of a node that is unhealthy, or was acted upon in the last day: since when, what was done, and what was
 * said. The schemas are the types; what earlier versions stored is read at the end.
 */
import {
  actionType,
  answer,
  type Attempt,
  attempt,
  deadlineAnnotation,
  dueCondition,
  named,
  replacement,
} from './attempt-record.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { fieldsOf, isJsonObject, listIn, toJson } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { checkedCodec, type RecordCodec, renamed, storedUnder } from '../../shared/lifecycle/record-codec.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';

const list = <Schema extends z.ZodMiniType>(schema: Schema) => z.readonly(z.array(schema));

const resourceName = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.optional(z.string()),
  name: z.string(),
});

const madeResource = z.extend(resourceName, { uid: z.string() });

export type MadeResource = Readonly<z.output<typeof madeResource>>;

const act = z.object({ key: z.string(), action: actionType, time: instant, bootID: z.optional(z.string()) });

/** An act that was taken. */
export type Act = Readonly<z.output<typeof act>>;

const episode = z.object({
  startTime: instant,
  endTime: z.optional(instant),
  /** The conditions that it began with. */
  began: z.optional(list(z.object({ type: z.string(), status: z.string() }))),
});

/** A time in which the node was unhealthy; one without an end goes on. */
export type Episode = Readonly<z.output<typeof episode>>;

const leftovers = z.object({
  /** A drain that was asked for, by its request. */
  drain: z.optional(z.string()),
  /** The action that others may have been asked for, while nothing tells: it goes on under the same request (I4). */
  requested: z.optional(z.object({ key: z.string(), requestId: z.string() })),
  resources: z.optional(list(madeResource)),
  /** Those that a run set out to make, written before: one that ended in between leaves them to be found (I7). */
  mayHaveMade: z.optional(list(resourceName)),
  /** The cordon and the condition of a reboot. */
  maintenance: z.optional(z.literal(true)),
  /** `ReplaceThenTerminate`: recorded before it is made. */
  replacement: z.optional(replacement),
  /** Of a termination that was called off: its annotation. */
  annotation: z.optional(z.extend(deadlineAnnotation, { claim: named })),
});

/** What this repair has made or set, to be taken back at its end (I7). */
export type RepairLeftovers = Readonly<z.output<typeof leftovers>>;

const incident = z.object({
  /** Of the entry that decided last. */
  type: z.string(),
  /** Actions that were accepted, by their keys. */
  taken: list(z.string()),
  /** Replacements that did not become ready: not taken, and skipped where something follows. */
  skipped: z.optional(list(z.string())),
  /** Since when no rule has been unhealthy. */
  healthySince: z.optional(instant),
  /** How long others that had just come back held it. */
  recovering: z.optional(z.object({ totalMs: z.number(), since: z.optional(instant) })),
});

/** It goes on until no rule has been unhealthy for a while (`rule/incident.ts`). */
export type Incident = Readonly<z.output<typeof incident>>;

const onset = z.object({
  /** When it began to be true. */
  start: instant,
  /** The transition time that its condition stated then, or last. */
  stated: z.optional(instant),
  /** The start that counts again, once a change event says that only the time has moved. */
  first: z.optional(instant),
  /** When a pass first saw it, before any event. The event of its change may still come. */
  seenTime: z.optional(instant),
  /** Since when its status counts, where only the reason has changed since. */
  statusStart: z.optional(instant),
});

export type Onset = Readonly<z.output<typeof onset>>;

export const nodeSchema = z.object({
  name: z.string(),
  pool: z.optional(z.string()),
  /** Of each statement that is true, by its key. */
  onsets: z.record(z.string(), onset),
  incident: z.optional(incident),
  /** Of the incident before: its condition type, and the action that was taken last. */
  lastIncident: z.optional(z.object({ type: z.string(), key: z.optional(z.string()), time: instant })),
  /** Taken in the last day, or for as long as an allowance counts them. */
  acts: list(act),
  number: z.int(),
  /** Replacements that were asked for, for their names. */
  launched: z.optional(z.int()),
  attempt: z.optional(attempt),
  refusals: z.optional(refusalsSchema),
  leftovers: z.optional(leftovers),
  episodes: list(episode),
  /** When somebody else was first seen at work on it. */
  otherWork: z.optional(z.object({ what: z.string(), time: instant })),
  /** What was said of it last, and when; and when each thing was that was said in the last hour. */
  reported: z.optional(
    z.object({ code: z.string(), time: instant, times: z._default(z.record(z.string(), instant), {}) }),
  ),
});

export type NodeRecord = Readonly<z.output<typeof nodeSchema>>;

const ramp = z.object({ step: z.int(), stepTime: instant, granted: z.int() });

/** How fast repairs begin again after an outage: 1, 2, 4 … a minute. `granted` 0: its first minute has yet to begin. */
export type Ramp = Readonly<z.output<typeof ramp>>;

const termination = z.object({
  condition: z.string(),
  time: instant,
  node: z.optional(z.string()),
  /** A replacement stood there before. */
  isReplaced: z.optional(z.literal(true)),
});

const launchPause = z.object({ failures: z.int(), until: instant });

/**
 * A pool whose launch failed launches nothing for a while: 5 minutes, twice as long after each failure, an hour at
 * most.
 */
export type LaunchPause = Readonly<z.output<typeof launchPause>>;

const carriedAttempt = z.object({
  number: z.int().check(z.positive()),
  phase: z.enum(['intended', 'refused', 'accepted', 'observed']),
  intendedTime: instant,
  node: named,
  claim: z.optional(named),
  incident: dueCondition,
  rung: z.int().check(z.minimum(0)),
  action: actionType,
  carriedOut: z.optional(z.object({ rung: z.int().check(z.minimum(0)), action: actionType })),
  until: z.optional(instant),
  answer: z.optional(answer),
  notTaken: z.optional(z.literal(true)),
  terminationTimestamp: z.optional(z.string()),
  previousTimestamp: z.optional(z.string()),
  bootID: z.optional(z.string()),
  requestId: z.optional(z.string()),
  resources: z.optional(list(madeResource)),
  mayHaveMade: z.optional(list(resourceName)),
  /** The repair is over, and this could not be taken back. */
  isLeft: z.optional(z.literal(true)),
});

/** An attempt as an earlier version had it in the record of its pool. */
export type CarriedAttempt = Readonly<z.output<typeof carriedAttempt>>;

export const poolSchema = z.object({
  /** By UID: since when. 48 bytes each. */
  inFlight: z.record(z.string(), instant),
  /** Of repairs that nobody waits for and that are not over: stuck ones, and those whose Nodes are gone. */
  followed: z._default(list(z.string()), []),
  /** Guards that held a due repair in the last pass that looked: `cluster`, `zone/<name>`, `threshold`. */
  holdingGuards: list(z.string()),
  ramp: z.optional(ramp),
  /** After a replacement that did not become ready. */
  launchPause: z.optional(launchPause),
  /** Those that were accepted in the last day, or the window of `futility`. */
  terminations: list(termination),
  /** How its repairs stand, for the status of policies. */
  counts: z.object({ held: z.int(), repairing: z.int() }),
  /** When it was said last how many nodes were not replaced. */
  missingTime: z.optional(instant),
  /** Of the layout of before: each goes into the record of its node. */
  oldAttempts: z.optional(list(carriedAttempt)),
});

export type PoolRecord = Readonly<z.output<typeof poolSchema>>;

/** What is remembered of a node. */
export interface StoredNode {
  readonly value: NodeRecord;
  /** Write it again: an earlier version wrote it, or it is about to be forgotten. */
  readonly isOld: boolean;
}

export const NEW_POOL: PoolRecord = {
  inFlight: {},
  followed: [],
  holdingGuards: [],
  terminations: [],
  counts: { held: 0, repairing: 0 },
};

export const OWNER = 'repair';

/** The record of one node, by UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;

/** A pool as messages name it. undefined: the nodes without a NodePool. */
export const poolText = (name: string | undefined): string =>
  name === undefined ? 'the nodes without a NodePool' : `NodePool ${name}`;

/** The same as a dimension of metrics. */
export const poolDimension = (name: string | undefined): string => name ?? 'none';

/** The record of one pool. undefined: of the nodes without a NodePool. */
export const poolRecordId = (name: string | undefined): string => (name === undefined ? 'cluster' : `pool/${name}`);

/**
 * The store keeps names that the code has left: own name → stored name, for each part. An attempt has more than other
 * names there (`attemptStored`). What was said is stored in codes: `REPORT_CODES` in `rule/verdict.ts`.
 */
const STORED_NAMES = {
  pool: { oldAttempts: 'carried', holdingGuards: 'held' },
  node: {
    incident: 'illness',
    lastIncident: 'before',
    leftovers: 'ours',
    onsets: 'clocks',
    otherWork: 'others',
    reported: 'said',
  },
  incident: { healthySince: 'wellTime', skipped: 'passed', recovering: 'settling' },
  leftovers: { requested: 'asked' },
} as const;

const checkedNode = checkedCodec(OWNER, nodeSchema, 3, nodeOfBefore);

export const nodeCodec: RecordCodec<NodeRecord> = storedUnder(STORED_NAMES.node, {
  ...checkedNode,
  toState: value => withParts(changedIn(checkedNode.toState(value), 'attempt', attemptStored), 'stored'),
});

export const poolCodec: RecordCodec<PoolRecord> = storedUnder(
  STORED_NAMES.pool,
  checkedCodec(OWNER, poolSchema, 5, poolOfBefore),
);

/** The state of a pool's record, whichever version wrote it. */
export function poolOfBefore(state: JsonObject): JsonObject {
  if (!Array.isArray(state['attempts'])) return state;
  const attempts = listIn(state, 'attempts').map(each => carriedAttempt.parse(each));
  const leftAttempts = listIn(state, 'left').flatMap(each =>
    isJsonObject(each) ? [{ ...carriedAttempt.parse(each['attempt']), isLeft: true as const }] : [],
  );
  const under = attempts.filter(({ phase }) => phase !== 'observed');
  const { outages = [], repairs = [], ramp } = state;
  return toJson({
    inFlight: Object.fromEntries(under.map(({ node, intendedTime }) => [node.uid, intendedTime])),
    holdingGuards: outages,
    ...(ramp !== undefined && { ramp }),
    terminations: repairs,
    counts: { held: 0, repairing: under.length },
    oldAttempts: [...attempts, ...leftAttempts],
  });
}

type Change = (object: JsonObject) => JsonObject | undefined;

/** The parts of a node's record under other names: of the store, or their own again. */
const withParts = (state: JsonObject, names: 'stored' | 'own'): JsonObject =>
  (['incident', 'leftovers'] as const).reduce((now, part) => {
    const toStored = Object.entries<string>(STORED_NAMES[part]);
    const change = new Map(names === 'stored' ? toStored : toStored.map(([own, stored]) => [stored, own]));
    return changedIn(now, part, each => renamed(each, change));
  }, state);

/** What is set for the time of the pods stands beside an attempt in the store. */
const attemptStored: Change = ({ dueCondition: incident, pods, ...otherFields }) => {
  const { annotation, time: podsUntil } = fieldsOf(pods);
  const { set: terminationTimestamp, previous: previousTimestamp } = fieldsOf(annotation);
  return { ...otherFields, ...toJson({ incident, terminationTimestamp, previousTimestamp, podsUntil }) };
};
const attemptRead: Change = ({ incident, terminationTimestamp: set, previousTimestamp, podsUntil, ...otherFields }) => {
  // An earlier version began launches where there was nothing to replace: they launched nothing.
  if (otherFields['action'] === 'Replace' && otherFields['replacement'] === undefined) return undefined;
  const annotation = set === undefined ? undefined : { set, previous: previousTimestamp };
  const kind = podsUntil !== undefined ? 'until' : annotation === undefined ? 'unbounded' : 'none';
  return toJson({ ...otherFields, dueCondition: incident, pods: { kind, time: podsUntil, annotation } });
};

/** An attempt by its stored form; undefined: it was none. */
export function readAttempt(stored: JsonObject): Attempt | undefined {
  const read = attemptRead(stored);
  return read && attempt.parse(read);
}

const changedIn = (state: JsonObject, part: string, change: Change): JsonObject => {
  const { [part]: object, ...otherParts } = state;
  if (!isJsonObject(object)) return state;
  const changed = change(object);
  return changed === undefined ? otherParts : { ...otherParts, [part]: changed };
};

const conditionOfBefore = z.object({
  conditionType: z.string(),
  conditionStatus: z.string(),
  lastTransitionTime: instant,
});

const onsetOf = ({ conditionType, conditionStatus, lastTransitionTime: time }: z.output<typeof conditionOfBefore>) => ({
  [`${conditionType}=${conditionStatus}`]: { start: time, stated: time },
});

/**
 * The state of a node's record, whichever version wrote it. Version 1 kept an attempt, which version 2 had in the
 * record of the pool.
 */
function nodeOfBefore(state: JsonObject): JsonObject {
  if (state['onsets'] !== undefined) return changedIn(withParts(state, 'own'), 'attempt', attemptRead);
  const { incident: condition, pool, episodes = [] } = state;
  const onsets = condition === undefined ? {} : onsetOf(conditionOfBefore.parse(condition));
  return { name: '', ...(pool !== undefined && { pool }), onsets, acts: [], number: 0, episodes };
}
