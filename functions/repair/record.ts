/**
 * Storage of the records of a pool (`pool-record.ts`) and of a node (`node/record.ts`): ids and stored names. Those of
 * earlier versions are read in `stored-versions.ts`. Only passes write them.
 */
import { OWNER } from './common/context.ts';
import { type Attempt, attempt } from './node/attempt-record.ts';
import { type NodeRecord, nodeSchema } from './node/record.ts';
import { type PoolRecord, poolSchema } from './pool-record.ts';
import { upgradeNode, upgradePool } from './stored-versions.ts';
import { fieldsOf, isJsonObject, toJson } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { checkedCodec, type RecordCodec, renamed, storedUnder } from '../../shared/lifecycle/record-codec.ts';

/** The record of a node, as a pass has read it. */
export interface StoredNode {
  readonly value: NodeRecord;
  /** The record is to be written again: an earlier version wrote it, or its timer is due. */
  readonly needsRewrite: boolean;
  /** The custom resource of its attempt is there, though no run recorded that. */
  readonly isMade?: boolean;
}

/** Id of the record of one node, by its UID (I10). */
export const nodeRecordId = (uid: string): string => `node/${uid}`;

/** Name of a pool in messages. undefined: the nodes without a NodePool. */
export const poolText = (name: string | undefined): string =>
  name === undefined ? 'the nodes without a NodePool' : `NodePool ${name}`;

/** Name of a pool as a dimension of metrics. undefined: the nodes without a NodePool. */
export const poolDimension = (name: string | undefined): string => name ?? 'none';

/** Id of the record of one pool. undefined: of the nodes without a NodePool. */
export const poolRecordId = (name: string | undefined): string => (name === undefined ? 'cluster' : `pool/${name}`);

/**
 * Names that the stored form keeps although the code has left them: own name → stored name, for each part. An attempt
 * differs in more than names (`attemptStored`). Reports are stored as codes: `REPORT_CODES` in `node/rule/verdict.ts`.
 */
export const STORED_NAMES = {
  pool: { oldAttempts: 'carried', blockingGuards: 'held' },
  counts: { blocked: 'held' },
  node: {
    incident: 'illness',
    lastIncident: 'before',
    leftovers: 'ours',
    onsets: 'clocks',
    otherWork: 'others',
    reported: 'said',
  },
  incident: { healthySince: 'wellTime', skippedLaunches: 'passed', recovering: 'settling' },
  leftovers: { requested: 'asked' },
} as const;

const checkedNode = checkedCodec(OWNER, nodeSchema, 3, nodeRead);

export const NODE_CODEC: RecordCodec<NodeRecord> = storedUnder(STORED_NAMES.node, {
  ...checkedNode,
  toState: value => withParts(changedIn(checkedNode.toState(value), 'attempt', attemptStored), NODE_PARTS, 'stored'),
});

const checkedPool = checkedCodec(OWNER, poolSchema, 5, poolRead);

export const POOL_CODEC: RecordCodec<PoolRecord> = storedUnder(STORED_NAMES.pool, {
  ...checkedPool,
  toState: value => withParts(checkedPool.toState(value), POOL_PARTS, 'stored'),
});

type Change = (object: JsonObject) => JsonObject | undefined;

type Part = 'counts' | 'incident' | 'leftovers';
const NODE_PARTS: readonly Part[] = ['incident', 'leftovers'];
const POOL_PARTS: readonly Part[] = ['counts'];

/** The parts of a record under other names: of the store, or their own again. */
const withParts = (state: JsonObject, parts: readonly Part[], names: 'stored' | 'own'): JsonObject =>
  parts.reduce((now, part) => {
    const toStored = Object.entries<string>(STORED_NAMES[part]);
    const change = new Map(names === 'stored' ? toStored : toStored.map(([own, stored]) => [stored, own]));
    return changedIn(now, part, each => renamed(each, change));
  }, state);

/** The stored form of an attempt, in which the deadline of the pods stands in fields of the attempt itself. */
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

/** Reads an attempt from its stored form; undefined: it was none. */
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

/** The state of a node's record, whichever version wrote it. */
function nodeRead(state: JsonObject): JsonObject {
  if (state['onsets'] === undefined) return upgradeNode(state);
  return changedIn(withParts(state, NODE_PARTS, 'own'), 'attempt', attemptRead);
}

/** The state of a pool's record, whichever version wrote it. */
function poolRead(state: JsonObject): JsonObject {
  return Array.isArray(state['attempts']) ? upgradePool(state) : withParts(state, POOL_PARTS, 'own');
}
